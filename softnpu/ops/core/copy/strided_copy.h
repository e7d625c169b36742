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

  int64_t element() const { return static_cast<int64_t>(element_); }  // bytes
  // Runs along the innermost dimension; 1 if there are tiles.
  int64_t runs() const { return tiled_ ? 1 : walk_.count() / walk_.inner().size; }
  // The runs [first, last) of a copy without tiles.
  void copy_runs(int64_t first, int64_t last) const;
  // Whether run i of this copy and run i of `other` are written side by side, for all i, and no others overlap them.
  bool is_beside(const StridedCopy& other) const;

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

// Copies that run in order. Those that write parts of the same rows run row by row.
class CopyList {
 public:
  void add(const View& to, const View& from);
  // Sets every element of `to` to `value`, in its dtype.
  void fill(const View& to, const aclScalar& value);
  void zero(const View& to);
  // `message` describes the operator's arguments.
  Status finish(Describe message, Plan* plan);

 private:
  struct alignas(16) Constant {
    char bytes[16] = {};
  };
  void fill(const View& to, const Constant& value);

  struct Part {
    StridedCopy copy;
    double elements;
  };
  // Consecutive parts that run together.
  struct Group {
    size_t begin;
    size_t end;
    int threads;
  };
  std::vector<Group> groups() const;
  void run(const Group& group) const;

  std::vector<Part> parts_;
  std::vector<std::unique_ptr<Constant>> constants_;
  double elements_ = 0;
};

// to = from, which is broadcast; both have the same dtype.
Status plan_copy(const aclTensor& from, const aclTensor& to, Plan* plan);

}  // namespace softnpu
