#pragma once
// Vector instructions with a scalar, in the forms of vector_binary.h.

#include "ascendc/vector_unary.h"

namespace AscendC {
namespace inner {

template <typename T, typename U, typename S>
VectorInstruction with_scalar(const char* name, VectorOp op, const LocalTensor<T>& dst, const LocalTensor<U>& src,
                              const S& scalar, const UnaryRepeatParams& params, const std::source_location& where) {
  VectorInstruction v = unary(name, op, dst, src, params, where);
  set_scalar<U>(&v, scalar);
  return v;
}

}  // namespace inner

// The overloads of one name; a template cannot make names. `Mask` is a number or a pointer to bits.
#define SOFTNPU_KERNEL_SCALAR(Name, op)                                                                             \
  template <typename T, bool isSetMask = true>                                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,            \
            const int32_t& count, const std::source_location& where = std::source_location::current()) {            \
    inner::issue_count(inner::with_scalar(#Name, inner::VectorOp::op, dst, src, scalar, {}, where), count);         \
  }                                                                                                                 \
  template <typename T, bool isSetMask = true>                                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,            \
            uint64_t mask, uint32_t repeats, const UnaryRepeatParams& params,                                       \
            const std::source_location& where = std::source_location::current()) {                                  \
    inner::issue_masked<isSetMask>(inner::with_scalar(#Name, inner::VectorOp::op, dst, src, scalar, params, where), \
                                   mask, repeats);                                                                  \
  }                                                                                                                 \
  template <typename T, bool isSetMask = true>                                                                      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,            \
            const uint64_t* mask, uint32_t repeats, const UnaryRepeatParams& params,                                \
            const std::source_location& where = std::source_location::current()) {                                  \
    inner::issue_masked<isSetMask>(inner::with_scalar(#Name, inner::VectorOp::op, dst, src, scalar, params, where), \
                                   mask, repeats);                                                                  \
  }

SOFTNPU_KERNEL_SCALAR(Adds, kAdds)
SOFTNPU_KERNEL_SCALAR(Muls, kMuls)
SOFTNPU_KERNEL_SCALAR(Maxs, kMaxs)
SOFTNPU_KERNEL_SCALAR(Mins, kMins)
SOFTNPU_KERNEL_SCALAR(LeakyRelu, kLeakyRelu)  // dst = src > 0 ? src : src * scalar
SOFTNPU_KERNEL_SCALAR(ShiftLeft, kShiftLeft)

#undef SOFTNPU_KERNEL_SCALAR

// Arithmetic for signed types. `roundEn`: adds half of the last place first.
template <typename T>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                const int32_t& count, const std::source_location& where = std::source_location::current()) {
  inner::issue_count(inner::with_scalar("ShiftRight", inner::VectorOp::kShiftRight, dst, src, scalar, {}, where),
                     count);
}
template <typename T, bool isSetMask = true, typename Mask>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                const Mask& mask, uint32_t repeats, const UnaryRepeatParams& params, bool roundEn = false,
                const std::source_location& where = std::source_location::current()) {
  inner::VectorInstruction v =
      inner::with_scalar("ShiftRight", inner::VectorOp::kShiftRight, dst, src, scalar, params, where);
  v.right_rounds = roundEn;
  inner::issue_masked<isSetMask>(v, mask, repeats);
}

// dst += src * scalar. Float with half: the product is exact, the sum is rounded once.
template <typename T, typename U>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const std::type_identity_t<U>& scalar,
          const int32_t& count, const std::source_location& where = std::source_location::current()) {
  inner::issue_count(inner::with_scalar("Axpy", inner::VectorOp::kAxpy, dst, src, scalar, {}, where), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const std::type_identity_t<U>& scalar, const Mask& mask,
          uint32_t repeats, const UnaryRepeatParams& params,
          const std::source_location& where = std::source_location::current()) {
  inner::issue_masked<isSetMask>(inner::with_scalar("Axpy", inner::VectorOp::kAxpy, dst, src, scalar, params, where),
                                 mask, repeats);
}

// dst = scalar.
template <typename T>
void Duplicate(const LocalTensor<T>& dst, const std::type_identity_t<T>& scalar, const int32_t& count,
               const std::source_location& where = std::source_location::current()) {
  inner::VectorInstruction v = inner::vector("Duplicate", inner::VectorOp::kDuplicate, where);
  v.destination = inner::operand(dst);
  inner::set_scalar<T>(&v, scalar);
  inner::issue_count(v, count);
}
template <typename T, bool isSetMask = true, typename Mask>
void Duplicate(const LocalTensor<T>& dst, const std::type_identity_t<T>& scalar, const Mask& mask, uint32_t repeats,
               uint16_t block_stride, uint8_t repeat_stride,
               const std::source_location& where = std::source_location::current()) {
  inner::VectorInstruction v = inner::vector("Duplicate", inner::VectorOp::kDuplicate, where);
  v.destination = inner::operand(dst, block_stride, repeat_stride);
  inner::set_scalar<T>(&v, scalar);
  inner::issue_masked<isSetMask>(v, mask, repeats);
}

}  // namespace AscendC
