#pragma once
// Vector instructions of one source, in the forms of vector_binary.h.

#include "ascendc/vector_issue.h"

namespace AscendC {
namespace inner {

template <typename T, typename U>
VectorInstruction unary(const char* name, VectorOp op, const LocalTensor<T>& dst, const LocalTensor<U>& src,
                        const UnaryRepeatParams& params, const std::source_location& where) {
  VectorInstruction v = vector(name, op, where);
  v.sources = 1;
  v.destination = operand(dst, params.dstBlkStride, params.dstRepStride);
  v.source[0] = operand(src, params.srcBlkStride, params.srcRepStride);
  return v;
}

}  // namespace inner

// The three overloads of one name; a template cannot make names.
#define SOFTNPU_KERNEL_UNARY(Name, op)                                                                                \
  template <typename T>                                                                                               \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,                               \
            const std::source_location& where = std::source_location::current()) {                                    \
    inner::issue_count(inner::unary(#Name, inner::VectorOp::op, dst, src, {}, where), count);                         \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true>                                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, uint32_t repeats,                    \
            const UnaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {   \
    inner::issue_masked<isSetMask>(inner::unary(#Name, inner::VectorOp::op, dst, src, params, where), mask, repeats); \
  }                                                                                                                   \
  template <typename T, bool isSetMask = true>                                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t* mask, uint32_t repeats,             \
            const UnaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {   \
    inner::issue_masked<isSetMask>(inner::unary(#Name, inner::VectorOp::op, dst, src, params, where), mask, repeats); \
  }

SOFTNPU_KERNEL_UNARY(Abs, kAbs)
SOFTNPU_KERNEL_UNARY(Exp, kExp)
SOFTNPU_KERNEL_UNARY(Sqrt, kSqrt)
SOFTNPU_KERNEL_UNARY(Relu, kRelu)
SOFTNPU_KERNEL_UNARY(Not, kNot)

#undef SOFTNPU_KERNEL_UNARY

// dst = src in another type, or, float to float, rounded to an integer.
template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& mode, uint32_t count,
          const std::source_location& where = std::source_location::current()) {
  inner::VectorInstruction v = inner::unary("Cast", inner::VectorOp::kCast, dst, src, {}, where);
  v.rounding = static_cast<softnpu::kernel::Rounding>(mode);
  inner::issue_count(v, count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& mode, const Mask& mask,
          uint32_t repeats, const UnaryRepeatParams& params,
          const std::source_location& where = std::source_location::current()) {
  inner::VectorInstruction v = inner::unary("Cast", inner::VectorOp::kCast, dst, src, params, where);
  v.rounding = static_cast<softnpu::kernel::Rounding>(mode);
  inner::issue_masked<isSetMask>(v, mask, repeats);
}

}  // namespace AscendC
