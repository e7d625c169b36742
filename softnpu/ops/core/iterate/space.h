#pragma once
// An iteration space over several tensors: one shape, and each tensor's strides in it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/small_vector.h"
#include "base/status.h"
#include "nnopbase/tensor.h"
#include "ops/core/iterate/cursor.h"

namespace softnpu {

// A tensor in an iteration space.
struct Operand {
  char* data = nullptr;  // its first element, at the address for host kernels
  aclDataType dtype = ACL_DT_UNDEFINED;

  bool is_constant = false;  // one element, broadcast everywhere
};

class Space {
 public:
  static constexpr size_t kMaxOperands = 6;

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
  char* chunk(size_t operand, int64_t first, int64_t count, ptrdiff_t step) const;

  using Addresses = std::array<char*, kMaxOperands>;
  // Calls body(addresses of the first element of each operand, count) for each run along the innermost dimension in
  // [first, first + count).
  template <typename Body>
  void for_all_runs(int64_t first, int64_t count, Body&& body) const;
  AddressLayout layout_of(size_t operand) const {
    return {sizes_.data(), strides_.data() + operand * sizes_.size(), sizes_.size()};
  }
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
  // The layout of all operands together.
  struct AllOperands {
    using Position = Addresses;
    const Space* space;

    size_t dims() const { return space->dims(); }
    int64_t size(size_t dim) const { return space->size(dim); }
    void advance(Addresses* addresses, size_t dim, int64_t steps) const {
      for (size_t k = 0; k < space->operand_count_; ++k) (*addresses)[k] += steps * space->stride(k, dim);
    }
  };

  int64_t count_ = 0;
  size_t operand_count_ = 0;
  Sizes sizes_;
  Strides strides_;  // of operand 0, of operand 1, ...
  std::array<Operand, kMaxOperands> operands_{};
};

template <typename Body>
void Space::for_runs(size_t operand, int64_t first, int64_t count, Body&& body) const {
  const AddressLayout layout = layout_of(operand);
  const ptrdiff_t stride = layout.strides[layout.count - 1];
  softnpu::for_runs(layout, operands_[operand].data, first, count,
                    [&](char* address, int64_t here) { body(address, stride, static_cast<size_t>(here)); });
}

template <typename Body>
void Space::for_all_runs(int64_t first, int64_t count, Body&& body) const {
  Addresses origin{};
  for (size_t k = 0; k < operand_count_; ++k) origin[k] = operands_[k].data;
  softnpu::for_runs(AllOperands{this}, origin, first, count, std::forward<Body>(body));
}

}  // namespace softnpu
