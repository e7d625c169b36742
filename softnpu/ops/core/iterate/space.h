#pragma once
// An iteration space over several tensors: one shape, and each tensor's strides in it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/small_vector.h"
#include "base/status.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// A tensor in an iteration space.
struct Operand {
  char* data = nullptr;  // its first element, at the address for host kernels
  aclDataType dtype = ACL_DT_UNDEFINED;

  bool is_constant = false;  // one element, broadcast everywhere
};

class Space {
 public:
  static constexpr size_t kMostOperands = 6;

  // The space of `tensors`. The first `outputs` are written and have the space's shape; the others are broadcast to it.
  // Dimensions are sorted by the first tensor's memory order, and merged if all tensors allow it.
  static Status make(std::span<const aclTensor* const> tensors, size_t outputs, Space* out);

  int64_t count() const { return count_; }  // elements
  size_t dims() const { return sizes_.size(); }
  int64_t size(size_t dim) const { return sizes_[dim]; }  // outermost first; at least one dimension
  size_t operands() const { return operand_count_; }
  const Operand& operand(size_t i) const { return operands_[i]; }
  void move(size_t operand, char* data) { operands_[operand].data = data; }
  ptrdiff_t stride(size_t operand, size_t dim) const { return strides_[operand * sizes_.size() + dim]; }
  // Whether all elements of `operand` are contiguous, in the space's order.
  bool is_contiguous(size_t operand) const;

  // The memory of `operand`: its first byte, and the one after its last.
  std::pair<const char*, const char*> extent(size_t operand) const;

  // The address of `operand`'s elements [first, first + count) if they are `step` bytes apart; else null.
  char* piece(size_t operand, int64_t first, int64_t count, ptrdiff_t step) const;

  using Addresses = std::array<char*, kMostOperands>;
  // Calls body(addresses of the first element of each operand, count) for each run along the innermost dimension in
  // [first, first + count).
  template <typename Body>
  void for_all_runs(int64_t first, int64_t count, Body&& body) const;
  // Calls body(address, stride in bytes, count) for each run of `operand`'s elements in [first, first + count).
  template <typename Body>
  void for_runs(size_t operand, int64_t first, int64_t count, Body&& body) const;

 private:
  using Sizes = SmallVector<int64_t, 8>;
  using Strides = SmallVector<ptrdiff_t, 24>;

  // Finds the memory of each tensor.
  Status find(std::span<const aclTensor* const> tensors, size_t outputs);
  // Makes one dimension of all elements: the tensors have one shape and no gaps.
  void flatten(std::span<const aclTensor* const> tensors);
  // Sorts and merges the dimensions of `shape`; `strides` has those of operand 0, then of operand 1, ...
  void order(const Sizes& shape, const Strides& strides, size_t outputs);
  // Moves all addresses by `steps` along `dim`.
  void advance(Addresses* addresses, size_t dim, int64_t steps) const {
    for (size_t k = 0; k < operand_count_; ++k) (*addresses)[k] += steps * stride(k, dim);
  }

  int64_t count_ = 0;
  size_t operand_count_ = 0;
  Sizes sizes_;
  Strides strides_;  // of operand 0, of operand 1, ...
  std::array<Operand, kMostOperands> operands_{};
};

template <typename Body>
void Space::for_runs(size_t operand, int64_t first, int64_t count, Body&& body) const {
  if (count <= 0) return;
  const size_t last = sizes_.size() - 1;
  const ptrdiff_t* strides = strides_.data() + operand * sizes_.size();
  SmallVector<int64_t, 8> at(sizes_.size());
  char* address = operands_[operand].data;
  for (size_t d = last + 1; d-- > 0 && first > 0;) {
    const int64_t outer = first / sizes_[d];
    at[d] = first - outer * sizes_[d];
    address += at[d] * strides[d];
    first = outer;
  }
  for (;;) {
    const int64_t here = std::min(sizes_[last] - at[last], count);
    body(address, strides[last], static_cast<size_t>(here));
    count -= here;
    if (count == 0) return;
    address -= at[last] * strides[last];
    at[last] = 0;
    for (size_t d = last; d-- > 0;) {
      address += strides[d];
      if (++at[d] < sizes_[d]) break;
      address -= sizes_[d] * strides[d];
      at[d] = 0;
    }
  }
}

template <typename Body>
void Space::for_all_runs(int64_t first, int64_t count, Body&& body) const {
  if (count <= 0) return;
  const size_t last = sizes_.size() - 1;
  SmallVector<int64_t, 8> at(sizes_.size());
  Addresses addresses{};
  for (size_t k = 0; k < operand_count_; ++k) addresses[k] = operands_[k].data;
  for (size_t d = sizes_.size(); d-- > 0; first /= sizes_[d]) {
    at[d] = first % sizes_[d];
    advance(&addresses, d, at[d]);
  }
  for (;;) {
    const int64_t here = std::min(sizes_[last] - at[last], count);
    body(std::as_const(addresses), here);
    count -= here;
    if (count == 0) return;
    advance(&addresses, last, -at[last]);
    at[last] = 0;
    for (size_t d = last; d-- > 0;) {
      advance(&addresses, d, 1);
      if (++at[d] < sizes_[d]) break;
      advance(&addresses, d, -sizes_[d]);
      at[d] = 0;
    }
  }
}

}  // namespace softnpu
