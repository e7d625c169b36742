#pragma once
// GlobalTensor and LocalTensor: typed views of global and of a core's local memory.

#include <cstdint>
#include <source_location>

#include "ascendc/qualifiers.h"
#include "ascendc/types.h"
#include "softnpu_kernel/core.h"

namespace AscendC {

// `length` elements of global memory. Does not own them. Sources: its use in Ascend/samples and DrivingSDK kernels.
template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  // `length` in elements; 0: not known.
  void SetGlobalBuffer(T* address, uint64_t length = 0) {
    address_ = address;
    length_ = length == 0 ? kUnknown : length;
    buffer_bytes_ = length * sizeof(T);
  }
  const T* GetPhyAddr() const { return address_; }
  const T* GetPhyAddr(uint64_t offset) const { return address_ + offset; }
  uint64_t GetSize() const { return length_ == kUnknown ? 0 : length_; }
  // Caches make no difference here.
  template <typename Mode>
  void SetL2CacheHint(Mode) {}

  T GetValue(uint64_t index, const std::source_location& where = std::source_location::current()) const {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), false, where);
    return address_[index];
  }
  void SetValue(uint64_t index, T value, const std::source_location& where = std::source_location::current()) {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), true, where);
    address_[index] = value;
  }
  // A reference may be written through: checked mode counts it as a write.
  T& operator()(uint64_t index, const std::source_location& where = std::source_location::current()) const {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), true, where);
    return address_[index];
  }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor tail;
    tail.address_ = address_ + offset;
    tail.buffer_bytes_ = buffer_bytes_;
    tail.length_ = length_ == kUnknown ? kUnknown : length_ > offset ? length_ - offset : 0;
    return tail;
  }

  // For the headers: the memory from element `index` on.
  softnpu::kernel::Memory memory(uint64_t index = 0) const {
    if (length_ == kUnknown) return {address_ + index, softnpu::kernel::kUnknownBytes};
    return {address_ + index, length_ > index ? (length_ - index) * sizeof(T) : 0};
  }
  // For the headers: the size of the buffer that this is a part of; 0: not known.
  uint64_t buffer_bytes() const { return buffer_bytes_; }

 private:
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  T* address_ = nullptr;
  uint64_t length_ = kUnknown;
  uint64_t buffer_bytes_ = 0;
};

template <typename T>
class LocalTensor;

namespace inner {

// A tensor as the second operand of an operator, with the line of the expression.
template <typename T>
struct LocatedTensor {
  LocatedTensor(const LocalTensor<T>& operand, const std::source_location& line = std::source_location::current())
      : tensor(operand), where(line) {}  // implicit
  const LocalTensor<T>& tensor;
  std::source_location where;
};

// What an operator of two tensors computes when it is assigned to a third.
enum class TensorOperator : uint8_t { kAdd, kSub, kMul, kDiv, kAnd, kLt, kLe, kEq };
template <typename T, TensorOperator op>
struct TensorExpression {
  const LocalTensor<T>& first;
  const LocalTensor<T>& second;
  std::source_location where;
};

}  // namespace inner

// Elements of a core's local memory: made by a queue, a buffer or the pipe. Does not own them.
template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  // For the headers. `owner` is the queue or buffer that it is of.
  LocalTensor(void* address, uint64_t bytes, TPosition position, const void* owner)
      : address_(static_cast<T*>(address)), bytes_(bytes), position_(position), owner_(owner) {}

  uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(address_); }
  uint64_t GetPhyAddr(uint64_t offset) const { return reinterpret_cast<uint64_t>(address_ + offset); }
  uint32_t GetSize() const { return static_cast<uint32_t>(bytes_ / sizeof(T)); }
  uint32_t GetLength() const { return static_cast<uint32_t>(bytes_); }
  void SetSize(uint32_t elements) { bytes_ = uint64_t{elements} * sizeof(T); }
  TPosition GetPosition() const { return position_; }

  T GetValue(uint64_t index, const std::source_location& where = std::source_location::current()) const {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), false, where);
    return address_[index];
  }
  template <typename U>
  void SetValue(uint64_t index, U value, const std::source_location& where = std::source_location::current()) const {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), true, where);
    address_[index] = static_cast<T>(value);
  }
  // A reference may be written through: checked mode counts it as a write.
  T& operator()(uint64_t index, const std::source_location& where = std::source_location::current()) const {
    softnpu::kernel::scalar_access(memory(index), sizeof(T), true, where);
    return address_[index];
  }

  // Computes all elements, and is the instruction of that name: vector_operators.h.
  template <typename U, inner::TensorOperator op>
  LocalTensor& operator=(const inner::TensorExpression<U, op>& expression) {
    assign(*this, expression);
    return *this;
  }
#define SOFTNPU_KERNEL_OPERATOR(symbol, op)                                          \
  friend inner::TensorExpression<T, inner::TensorOperator::op> operator symbol(      \
      const inner::LocatedTensor<T>& first, const inner::LocatedTensor<T>& second) { \
    return {first.tensor, second.tensor, second.where};                              \
  }
  SOFTNPU_KERNEL_OPERATOR(+, kAdd)
  SOFTNPU_KERNEL_OPERATOR(-, kSub)
  SOFTNPU_KERNEL_OPERATOR(*, kMul)
  SOFTNPU_KERNEL_OPERATOR(/, kDiv)
  SOFTNPU_KERNEL_OPERATOR(&, kAnd)
  SOFTNPU_KERNEL_OPERATOR(<, kLt)
  SOFTNPU_KERNEL_OPERATOR(<=, kLe)
  SOFTNPU_KERNEL_OPERATOR(==, kEq)
#undef SOFTNPU_KERNEL_OPERATOR

  LocalTensor operator[](uint64_t offset) const {
    const uint64_t skipped = offset * sizeof(T);
    return LocalTensor(address_ + offset, bytes_ > skipped ? bytes_ - skipped : 0, position_, owner_);
  }
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(address_, bytes_, position_, owner_);
  }

  // For the headers: the memory from element `index` on, and the owner.
  softnpu::kernel::Memory memory(uint64_t index = 0) const {
    const uint64_t skipped = index * sizeof(T);
    return {address_ + index, bytes_ > skipped ? bytes_ - skipped : 0};
  }
  const void* owner() const { return owner_; }

 private:
  T* address_ = nullptr;
  uint64_t bytes_ = 0;
  TPosition position_ = TPosition::VECCALC;
  const void* owner_ = nullptr;
};

}  // namespace AscendC
