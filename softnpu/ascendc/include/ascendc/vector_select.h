#pragma once
// Comparisons and choices. Bit i of a mask is that of element i, the least of a byte first. Sources: calls in
// DrivingSDK kernels.

#include "ascendc/vector_binary.h"
#include "ascendc/vector_scalar.h"
#include "softnpu_kernel/vector_select.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
// VSEL_CMPMASK_SPR: each repeat uses the mask's first bits; otherwise the bits go on from repeat to repeat.
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

namespace inner {

// `plain` as another instruction of the vector unit.
template <typename I>
I of_vector(const VectorInstruction& plain, void (*execute)(const softnpu::kernel::Instruction&),
            void (*touch)(const softnpu::kernel::Instruction&, softnpu::kernel::Touches*)) {
  I result{};
  static_cast<VectorInstruction&>(result) = plain;
  result.bytes = sizeof(I);
  result.execute = execute;
  result.touch = touch;
  return result;
}

// A tensor whose bits are read or written.
template <typename U>
VectorOperand bits_of(const LocalTensor<U>& tensor) {
  VectorOperand result = operand(tensor);
  result.type = softnpu::kernel::DataType::kBits;
  return result;
}

template <typename U>
softnpu::kernel::CompareInstruction comparison(const VectorInstruction& plain, const LocalTensor<U>& dst,
                                               CMPMODE mode) {
  auto result = of_vector<softnpu::kernel::CompareInstruction>(plain, &softnpu::kernel::execute_compare,
                                                               &softnpu::kernel::touch_compare);
  result.destination = bits_of(dst);
  result.comparison = static_cast<softnpu::kernel::Comparison>(mode);
  return result;
}

template <typename U>
softnpu::kernel::SelectInstruction selection(const VectorInstruction& plain, const LocalTensor<U>& bits, SELMODE mode) {
  auto result = of_vector<softnpu::kernel::SelectInstruction>(plain, &softnpu::kernel::execute_select,
                                                              &softnpu::kernel::touch_select);
  result.bits = bits_of(bits);
  result.repeats_bits = mode == SELMODE::VSEL_CMPMASK_SPR;
  return result;
}

// The destination and the first source of a choice, as those of an instruction with a scalar.
constexpr UnaryRepeatParams first_of(const BinaryRepeatParams& params) {
  return {params.dstBlkStride, params.src0BlkStride, params.dstRepStride, params.src0RepStride};
}

// Whole repeats of them.
inline void issue_comparison(softnpu::kernel::CompareInstruction result, uint32_t count) {
  result.fills_repeats = true;
  issue_count(result, count);
}

}  // namespace inner

template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             uint32_t count, const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::binary("Compare", inner::VectorOp::kCount, src0, src0, src1, {}, where);
  inner::issue_comparison(inner::comparison(plain, dst, mode), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             const Mask& mask, uint32_t repeats, const BinaryRepeatParams& params,
             const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::binary("Compare", inner::VectorOp::kCount, src0, src0, src1, params, where);
  inner::issue_masked<isSetMask>(inner::comparison(plain, dst, mode), mask, repeats);
}

template <typename T, typename U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                   CMPMODE mode, uint32_t count, const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::with_scalar("CompareScalar", inner::VectorOp::kCount, src, src, scalar, {}, where);
  inner::issue_comparison(inner::comparison(plain, dst, mode), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, const std::type_identity_t<T>& scalar,
                   CMPMODE mode, const Mask& mask, uint32_t repeats, const UnaryRepeatParams& params,
                   const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::with_scalar("CompareScalar", inner::VectorOp::kCount, src, src, scalar, params, where);
  inner::issue_masked<isSetMask>(inner::comparison(plain, dst, mode), mask, repeats);
}

// dst = the bit ? src0 : src1.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, uint32_t count,
            const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::binary("Select", inner::VectorOp::kCount, dst, src0, src1, {}, where);
  inner::issue_count(inner::selection(plain, bits, mode), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, const Mask& mask, uint32_t repeats,
            const BinaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::binary("Select", inner::VectorOp::kCount, dst, src0, src1, params, where);
  inner::issue_masked<isSetMask>(inner::selection(plain, bits, mode), mask, repeats);
}
// dst = the bit ? src0 : scalar.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            std::type_identity_t<T> scalar, SELMODE mode, uint32_t count,
            const std::source_location& where = std::source_location::current()) {
  const auto plain = inner::with_scalar("Select", inner::VectorOp::kCount, dst, src0, scalar, {}, where);
  inner::issue_count(inner::selection(plain, bits, mode), count);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            std::type_identity_t<T> scalar, SELMODE mode, const Mask& mask, uint32_t repeats,
            const BinaryRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  const auto plain =
      inner::with_scalar("Select", inner::VectorOp::kCount, dst, src0, scalar, inner::first_of(params), where);
  inner::issue_masked<isSetMask>(inner::selection(plain, bits, mode), mask, repeats);
}

}  // namespace AscendC
