#pragma once
// Comparisons and choices. Bit i of a mask is that of element i, the least of a byte first. Sources: calls in
// DrivingSDK kernels.

#include "ascendc/vector_binary.h"
#include "ascendc/vector_unary.h"
#include "softnpu_kernel/vector_select.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
// VSEL_CMPMASK_SPR: each repeat uses the mask's first bits; otherwise the bits go on from repeat to repeat.
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

namespace inner {

template <typename I>
void finish(I* made, void (*execute)(const softnpu::kernel::Instruction&),
            void (*touch)(const softnpu::kernel::Instruction&, softnpu::kernel::Touches*)) {
  made->bytes = sizeof(I);
  made->execute = execute;
  made->touch = touch;
}

template <typename U, typename T>
softnpu::kernel::CompareInstruction comparison(const char* name, const LocalTensor<U>& dst, const LocalTensor<T>& first,
                                               const LocalTensor<T>& second, CMPMODE mode,
                                               const BinaryRepeatParams& params, const std::source_location& where) {
  softnpu::kernel::CompareInstruction c{};
  static_cast<VectorInstruction&>(c) = binary(name, VectorOp::kCount, first, first, second, params, where);
  c.destination = operand(dst);
  c.comparison = static_cast<softnpu::kernel::Comparison>(mode);
  finish(&c, &softnpu::kernel::execute_compare, &softnpu::kernel::touch_compare);
  return c;
}

template <typename T, typename U>
softnpu::kernel::SelectInstruction selection(const LocalTensor<T>& dst, const LocalTensor<U>& bits,
                                             const LocalTensor<T>& first, const LocalTensor<T>& second, SELMODE mode,
                                             const BinaryRepeatParams& params, const std::source_location& where) {
  softnpu::kernel::SelectInstruction s{};
  static_cast<VectorInstruction&>(s) = binary("Select", VectorOp::kCount, dst, first, second, params, where);
  s.bits = operand(bits);
  s.repeats_bits = mode == SELMODE::VSEL_CMPMASK_SPR;
  finish(&s, &softnpu::kernel::execute_select, &softnpu::kernel::touch_select);
  return s;
}

// Compare and Select take no mask of the core in their `count` form.
template <typename I>
void issue_elements_of(I made, int64_t count) {
  if (count <= 0) return;
  made.is_counted = true;
  made.count = static_cast<uint64_t>(count);
  issue(made);
}
template <bool sets_mask, typename I, typename Mask>
void issue_repeats(I made, const Mask& mask, uint32_t repeats) {
  constexpr bool is_number = std::is_integral_v<Mask>;
  const uint32_t lanes = 256 / bytes_of(made.source[0].type);
  uint64_t* core = softnpu::kernel::current_block()->vector_mask;
  if constexpr (sets_mask && is_number) std::copy_n(first_elements(static_cast<uint64_t>(mask)).words, 2, core);
  if constexpr (sets_mask && !is_number) std::copy_n(mask, 2, core);
  for (int i = 0; i < 2; ++i) made.mask[i] = core[i] & first_elements(lanes).words[i];
  made.repeats = repeats;
  if (repeats > 0) issue(made);
}

}  // namespace inner

template <typename U, typename T>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             uint32_t count, const std::source_location& where = std::source_location::current()) {
  inner::issue_elements_of(inner::comparison("Compare", dst, src0, src1, mode, {}, where), count);
}
template <typename U, typename T, bool isSetMask = true, typename Mask>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             const Mask& mask, uint8_t repeats, const BinaryRepeatParams& params,
             const std::source_location& where = std::source_location::current()) {
  inner::issue_repeats<isSetMask>(inner::comparison("Compare", dst, src0, src1, mode, params, where), mask, repeats);
}

template <typename U, typename T>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                   CMPMODE mode, uint32_t count, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::CompareInstruction c = inner::comparison("CompareScalar", dst, src, src, mode, {}, where);
  c.has_scalar = true;
  c.sources = 1;
  inner::set_scalar<T>(&c, scalar);
  inner::issue_elements_of(c, count);
}
template <typename U, typename T, bool isSetMask = true, typename Mask>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                   CMPMODE mode, const Mask& mask, uint8_t repeats, const UnaryRepeatParams& params,
                   const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::CompareInstruction c = inner::comparison("CompareScalar", dst, src, src, mode, {}, where);
  c.has_scalar = true;
  c.sources = 1;
  c.source[0] = inner::operand(src, params.srcBlkStride, params.srcRepStride);
  inner::set_scalar<T>(&c, scalar);
  inner::issue_repeats<isSetMask>(c, mask, repeats);
}

// dst = the bit ? src0 : src1.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, uint32_t count,
            const std::source_location& where = std::source_location::current()) {
  inner::issue_elements_of(inner::selection(dst, bits, src0, src1, mode, {}, where), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, const Mask& mask, uint8_t repeats,
            const BinaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  inner::issue_repeats<isSetMask>(inner::selection(dst, bits, src0, src1, mode, params, where), mask, repeats);
}
// dst = the bit ? src0 : scalar.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            std::type_identity_t<T> scalar, SELMODE mode, uint32_t count,
            const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::SelectInstruction s = inner::selection(dst, bits, src0, src0, mode, {}, where);
  s.has_scalar = true;
  s.sources = 1;
  inner::set_scalar<T>(&s, scalar);
  inner::issue_elements_of(s, count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            std::type_identity_t<T> scalar, SELMODE mode, const Mask& mask, uint8_t repeats,
            const BinaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::SelectInstruction s = inner::selection(dst, bits, src0, src0, mode, params, where);
  s.has_scalar = true;
  s.sources = 1;
  inner::set_scalar<T>(&s, scalar);
  inner::issue_repeats<isSetMask>(s, mask, repeats);
}

}  // namespace AscendC
