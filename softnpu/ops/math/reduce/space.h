#pragma once
// A tensor's elements as lines to reduce: the kept and the reduced dimensions, and the results' memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nnopbase/tensor.h"
#include "ops/core/iterate/cursor.h"

namespace softnpu {

constexpr size_t kMaxResults = 2;
using Results = std::array<const aclTensor*, kMaxResults>;  // null: not needed

// Marks the dimensions in `dims`; all, if it is empty. Negative ones count from the end.
Status marked_dims(const aclTensor& self, std::span<const int64_t> dims, std::vector<bool>* out);

// One dimension, after merging; strides in bytes.
struct ReduceDim {
  int64_t size = 1;
  ptrdiff_t in = 0;
  std::array<ptrdiff_t, kMaxResults> out{};
};

// Consecutive elements of a list of dimensions: offset of the first, and distance to the next.
struct ReduceRun {
  int64_t count = 0;
  ptrdiff_t in = 0;
  ptrdiff_t in_stride = 0;
  std::array<ptrdiff_t, kMaxResults> out{};
  std::array<ptrdiff_t, kMaxResults> out_stride{};
};

class ReduceSpace {
 public:
  // Results have the shape of `self` without the marked dimensions, or with size 1 in their place.
  static Status make(const aclTensor& self, const std::vector<bool>& marked, bool keepdim, const Results& results,
                     ReduceSpace* out);

  const char* in() const { return in_; }
  char* out(size_t i) const { return out_[i]; }
  int64_t kept_count() const { return kept_count_; }
  int64_t reduced_count() const { return reduced_count_; }
  const ReduceDim& inner_kept() const { return kept_.back(); }
  const ReduceDim& inner_reduced() const { return reduced_.back(); }
  // Whether adjacent elements in memory belong to different results.
  bool is_by_columns() const;

  // Calls body(const ReduceRun&) for the runs of [first, last) of the kept or of the reduced dimensions.
  template <typename Body>
  void for_kept(int64_t first, int64_t last, Body&& body) const {
    for_runs(kept_, first, last, body);
  }
  template <typename Body>
  void for_reduced(int64_t first, int64_t last, Body&& body) const {
    for_runs(reduced_, first, last, body);
  }

 private:
  struct Layout {
    struct Position {
      ptrdiff_t in = 0;
      std::array<ptrdiff_t, kMaxResults> out{};
    };
    const ReduceDim* all;
    size_t count;

    size_t dims() const { return count; }
    int64_t size(size_t dim) const { return all[dim].size; }
    void advance(Position* position, size_t dim, int64_t steps) const {
      position->in += steps * all[dim].in;
      for (size_t k = 0; k < kMaxResults; ++k) position->out[k] += steps * all[dim].out[k];
    }
  };

  template <typename Body>
  static void for_runs(const std::vector<ReduceDim>& dims, int64_t first, int64_t last, Body& body);

  // Outermost first; at least one.
  std::vector<ReduceDim> kept_;
  std::vector<ReduceDim> reduced_;
  int64_t kept_count_ = 1;
  int64_t reduced_count_ = 1;
  const char* in_ = nullptr;
  std::array<char*, kMaxResults> out_{};
};

template <typename Body>
void ReduceSpace::for_runs(const std::vector<ReduceDim>& dims, int64_t first, int64_t last, Body& body) {
  const ReduceDim& inner = dims.back();
  ReduceRun run;
  run.in_stride = inner.in;
  run.out_stride = inner.out;
  softnpu::for_runs(Layout{dims.data(), dims.size()}, Layout::Position{}, first, last - first,
                    [&](const Layout::Position& at, int64_t count) {
                      run.count = count;
                      run.in = at.in;
                      run.out = at.out;
                      body(std::as_const(run));
                    });
}

}  // namespace softnpu
