#pragma once
// An iteration over several strided memories: offsets in bytes, run by run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/small_vector.h"
#include "ops/core/iterate/cursor.h"

namespace softnpu {

template <size_t N>
class Walk {
 public:
  using Offsets = std::array<ptrdiff_t, N>;
  struct Dim {
    int64_t size = 1;
    Offsets strides{};
  };

  // Dimensions are added outermost first.
  void add(int64_t size, const Offsets& strides) {
    dims_.push_back({size, strides});
    count_ *= size;
  }

  int64_t count() const { return count_; }
  size_t dims() const { return dims_.size(); }
  const Dim& dim(size_t i) const { return dims_[i]; }
  const Dim& inner() const { return dims_.back(); }

  // Sorts the dimensions by operand 0's memory order; by operand 1's if that has no preference.
  void order() {
    for (size_t i = 1; i < dims_.size(); ++i) {
      for (size_t j = i; j > 0 && is_before(dims_[j], dims_[j - 1]); --j) std::swap(dims_[j], dims_[j - 1]);
    }
  }

  // Merges adjacent dimensions if all operands allow it. At least one dimension remains.
  void join() {
    SmallVector<Dim, 6> kept;
    for (const Dim& dim : dims_) {
      if (dim.size == 1) continue;
      if (!kept.empty() && joins(kept.back(), dim)) {
        kept.back() = {kept.back().size * dim.size, dim.strides};
      } else {
        kept.push_back(dim);
      }
    }
    if (kept.empty()) kept.push_back({count_, {}});
    dims_ = kept;
  }

  // Removes dimension `i`: the caller iterates over it.
  Dim take(size_t i) {
    const Dim taken = dims_[i];
    for (size_t j = i + 1; j < dims_.size(); ++j) dims_[j - 1] = dims_[j];
    dims_.pop_back();
    if (dims_.empty()) dims_.push_back({});
    count_ = 1;
    for (const Dim& dim : dims_) count_ *= dim.size;
    return taken;
  }

  // Calls body(offsets of the first element, count) for each run along the innermost dimension in [first, first +
  // count).
  template <typename Body>
  void for_runs(int64_t first, int64_t count, Body&& body) const {
    softnpu::for_runs(Layout{dims_.data(), dims_.size()}, Offsets{}, first, count, std::forward<Body>(body));
  }

  // Calls body(offsets) for each element in [first, first + count).
  template <typename Body>
  void for_each(int64_t first, int64_t count, Body&& body) const {
    for_runs(first, count, [&](Offsets offsets, int64_t here) {
      for (int64_t i = 0; i < here; ++i) {
        body(std::as_const(offsets));
        advance(&offsets, dims_.back(), 1);
      }
    });
  }

 private:
  struct Layout {
    using Position = Offsets;
    const Dim* all;
    size_t count;

    size_t dims() const { return count; }
    int64_t size(size_t dim) const { return all[dim].size; }
    void advance(Offsets* offsets, size_t dim, int64_t steps) const { Walk::advance(offsets, all[dim], steps); }
  };

  static void advance(Offsets* offsets, const Dim& dim, int64_t steps) {
    for (size_t k = 0; k < N; ++k) (*offsets)[k] += steps * dim.strides[k];
  }

  static bool is_before(const Dim& a, const Dim& b) {
    for (size_t k = 0; k < N; ++k) {
      const ptrdiff_t x = std::abs(a.strides[k]);
      const ptrdiff_t y = std::abs(b.strides[k]);
      if (x == 0 || y == 0 || x == y) continue;
      return x > y;
    }
    return false;
  }

  static bool joins(const Dim& outer, const Dim& inner) {
    for (size_t k = 0; k < N; ++k) {
      if (outer.strides[k] != inner.strides[k] * inner.size) return false;
    }
    return true;
  }

  SmallVector<Dim, 6> dims_;
  int64_t count_ = 1;
};

}  // namespace softnpu
