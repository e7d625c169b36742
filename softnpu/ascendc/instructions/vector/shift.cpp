// Shifts by a scalar, and Axpy of half into float.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ascendc/instructions/vector/dispatch.h"

namespace softnpu::kernel {
namespace {

// A shift by the type's width or more gives 0, and of a negative number to the right -1.
template <typename T>
void left(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  T bits;
  std::memcpy(&bits, v.scalar, sizeof(T));
  using U = std::make_unsigned_t<T>;
  const auto* in = static_cast<const T*>(first);
  auto* to = static_cast<T*>(out);
  const auto distance = static_cast<U>(bits);
  for (size_t i = 0; i < count; ++i) {
    to[i] = distance >= std::numeric_limits<U>::digits ? T{0} : static_cast<T>(static_cast<U>(in[i]) << distance);
  }
}

// As if numbers had any width: from 62 bits on, none of an element's is left.
template <typename T>
T shifted_right(T value, uint32_t distance, bool rounds) {
  const int64_t widened = static_cast<int64_t>(value);
  if (distance > 62) distance = 62;
  const int64_t half = rounds && distance > 0 ? int64_t{1} << (distance - 1) : 0;
  return static_cast<T>((widened + half) >> distance);
}

template <typename T>
void right(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  T bits;
  std::memcpy(&bits, v.scalar, sizeof(T));
  const auto distance = static_cast<uint32_t>(static_cast<std::make_unsigned_t<T>>(bits));
  const auto* in = static_cast<const T*>(first);
  auto* to = static_cast<T*>(out);
  for (size_t i = 0; i < count; ++i) to[i] = shifted_right(in[i], distance, v.right_rounds);
}

void axpy_half(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  half factor;
  std::memcpy(&factor, v.scalar, sizeof(factor));
  const auto* in = static_cast<const half*>(first);
  auto* to = static_cast<float*>(out);
  for (size_t i = 0; i < count; ++i) to[i] += static_cast<float>(in[i]) * static_cast<float>(factor);
}

template <template <typename> class F>
VectorFunction of_integer(DataType type) {
  switch (type) {
    case DataType::kInt16: return F<int16_t>::function;
    case DataType::kUint16: return F<uint16_t>::function;
    case DataType::kInt32: return F<int32_t>::function;
    case DataType::kUint32: return F<uint32_t>::function;
    default: return nullptr;
  }
}

template <typename T>
struct ShiftLeft {
  static constexpr VectorFunction function = &left<T>;
};
template <typename T>
struct Right {
  static constexpr VectorFunction function = &right<T>;
};

}  // namespace

VectorFunction shift_function(VectorOp op, DataType type) {
  if (op == VectorOp::kShiftLeft) return of_integer<ShiftLeft>(type);
  return op == VectorOp::kShiftRight ? of_integer<Right>(type) : nullptr;
}

VectorFunction mixed_axpy_function(VectorOp op, DataType destination, DataType source) {
  const bool is_mixed = destination == DataType::kFloat && source == DataType::kHalf;
  return op == VectorOp::kAxpy && is_mixed ? &axpy_half : nullptr;
}

}  // namespace softnpu::kernel
