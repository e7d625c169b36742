#pragma once
// Vector instructions of two sources. Each has three forms: `count` contiguous elements; `mask` elements of each of
// `repeats` repeats; the elements whose bits `mask` has. Sources: calls in DrivingSDK and sgl-kernel-npu kernels.

#include "ascendc/vector_issue.h"

namespace AscendC {
namespace inner {

template <typename T>
VectorInstruction binary(const char* name, VectorOp op, const LocalTensor<T>& dst, const LocalTensor<T>& first,
                         const LocalTensor<T>& second, const BinaryRepeatParams& params,
                         const std::source_location& where) {
  VectorInstruction v = vector(name, op, where);
  v.sources = 2;
  v.destination = operand(dst, params.dstBlkStride, params.dstRepStride);
  v.source[0] = operand(first, params.src0BlkStride, params.src0RepStride);
  v.source[1] = operand(second, params.src1BlkStride, params.src1RepStride);
  return v;
}

}  // namespace inner

// The three overloads of one name; a template cannot make names.
#define SOFTNPU_KERNEL_BINARY(Name, op)                                                                              \
  template <typename T>                                                                                              \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count, \
            const std::source_location& where = std::source_location::current()) {                                   \
    inner::issue_count(inner::binary(#Name, inner::VectorOp::op, dst, src0, src1, {}, where), count);                \
  }                                                                                                                  \
  template <typename T, bool isSetMask = true>                                                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,        \
            uint32_t repeats, const BinaryRepeatParams& params,                                                      \
            const std::source_location& where = std::source_location::current()) {                                   \
    inner::issue_masked<isSetMask>(inner::binary(#Name, inner::VectorOp::op, dst, src0, src1, params, where), mask,  \
                                   repeats);                                                                         \
  }                                                                                                                  \
  template <typename T, bool isSetMask = true>                                                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const uint64_t* mask, \
            uint32_t repeats, const BinaryRepeatParams& params,                                                      \
            const std::source_location& where = std::source_location::current()) {                                   \
    inner::issue_masked<isSetMask>(inner::binary(#Name, inner::VectorOp::op, dst, src0, src1, params, where), mask,  \
                                   repeats);                                                                         \
  }

SOFTNPU_KERNEL_BINARY(Add, kAdd)
SOFTNPU_KERNEL_BINARY(Sub, kSub)
SOFTNPU_KERNEL_BINARY(Mul, kMul)
SOFTNPU_KERNEL_BINARY(Div, kDiv)
SOFTNPU_KERNEL_BINARY(Max, kMax)
SOFTNPU_KERNEL_BINARY(Min, kMin)
SOFTNPU_KERNEL_BINARY(And, kAnd)
SOFTNPU_KERNEL_BINARY(Or, kOr)
SOFTNPU_KERNEL_BINARY(AddRelu, kAddRelu)      // dst = max(src0 + src1, 0)
SOFTNPU_KERNEL_BINARY(MulAddDst, kMulAddDst)  // dst += src0 * src1

#undef SOFTNPU_KERNEL_BINARY

}  // namespace AscendC
