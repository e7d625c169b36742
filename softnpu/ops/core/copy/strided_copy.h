#pragma once
// Copies between any two strided views of one dtype, and lists of them.

#include <memory>
#include <string>
#include <vector>

#include "nnopbase/scalar.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"

namespace softnpu {

// One copy: by rows if both sides allow it; if their innermost dimensions differ, by tiles that fit the first-level
// cache.
class StridedCopy {
 public:
  // Both have the same sizes and dtype.
  StridedCopy(const View& to, const View& from);

  void run(int threads) const;

 private:
  void run_rows(int threads) const;
  void run_tiles(int threads) const;
  void run_transposed(int threads) const;
  template <typename Body>
  void for_units(int threads, int64_t columns, int64_t rows, const Body& body) const;
  bool uses_non_temporal_stores() const;
  bool lines_are_whole() const;

  char* to_;
  const char* from_;
  size_t element_;
  Walk<2> walk_;  // to, from
  bool tiled_ = false;
  Walk<2>::Dim across_;  // of a tile: the dimension in which `from` is contiguous
  Walk<2>::Dim along_;   // the dimension in which `to` is contiguous
};

// Copies that run in order.
class CopyList {
 public:
  void add(const View& to, const View& from);
  // Sets every element of `to` to `value`, in its dtype.
  void fill(const View& to, const aclScalar& value);
  void zero(const View& to);
  // `said` describes the operator's arguments.
  Status finish(Describe said, Plan* plan);

 private:
  struct alignas(16) Constant {
    char bytes[16] = {};
  };
  void fill(const View& to, const Constant& value);

  struct Part {
    StridedCopy copy;
    int threads;
  };
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<Constant>> constants_;
  double elements_ = 0;
};

// to = from, which is broadcast; both have the same dtype.
Status plan_copy(const aclTensor& from, const aclTensor& to, Plan* plan);

}  // namespace softnpu
