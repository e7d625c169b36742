#include "distributed/data_type.h"

#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>

#include "compat/reduce_op.h"

namespace torch_npu {
namespace {

using c10::ScalarType;
using c10d::ReduceOp;

// The types that HCCL computes with; bool as uint8, complex numbers as pairs.
std::optional<WireType> numbers_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte: return WireType{HCCL_DATA_TYPE_UINT8, 1};
    case ScalarType::Char: return WireType{HCCL_DATA_TYPE_INT8, 1};
    case ScalarType::Short: return WireType{HCCL_DATA_TYPE_INT16, 1};
    case ScalarType::Int: return WireType{HCCL_DATA_TYPE_INT32, 1};
    case ScalarType::Long: return WireType{HCCL_DATA_TYPE_INT64, 1};
    case ScalarType::UInt16: return WireType{HCCL_DATA_TYPE_UINT16, 1};
    case ScalarType::UInt32: return WireType{HCCL_DATA_TYPE_UINT32, 1};
    case ScalarType::UInt64: return WireType{HCCL_DATA_TYPE_UINT64, 1};
    case ScalarType::Half: return WireType{HCCL_DATA_TYPE_FP16, 1};
    case ScalarType::BFloat16: return WireType{HCCL_DATA_TYPE_BFP16, 1};
    case ScalarType::Float: return WireType{HCCL_DATA_TYPE_FP32, 1};
    case ScalarType::Double: return WireType{HCCL_DATA_TYPE_FP64, 1};
    case ScalarType::ComplexHalf: return WireType{HCCL_DATA_TYPE_FP16, 2};
    case ScalarType::ComplexFloat: return WireType{HCCL_DATA_TYPE_FP32, 2};
    case ScalarType::ComplexDouble: return WireType{HCCL_DATA_TYPE_FP64, 2};
    default: return std::nullopt;
  }
}

const char* name_of(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM: return "SUM";
    case ReduceOp::AVG: return "AVG";
    case ReduceOp::PRODUCT: return "PRODUCT";
    case ReduceOp::MIN: return "MIN";
    case ReduceOp::MAX: return "MAX";
    case ReduceOp::BAND: return "BAND";
    case ReduceOp::BOR: return "BOR";
    case ReduceOp::BXOR: return "BXOR";
    case ReduceOp::PREMUL_SUM: return "PREMUL_SUM";
    default: return "UNUSED";
  }
}

// Sums of bool are logical or, as its numbers 0 and 1 must not become 2; products are logical and.
HcclReduceOp hccl_op(ReduceOp::RedOpType op, ScalarType dtype) {
  const bool is_bool = dtype == ScalarType::Bool;
  switch (op) {
    case ReduceOp::SUM: return is_bool ? HCCL_REDUCE_MAX : HCCL_REDUCE_SUM;
    case ReduceOp::AVG:
    case ReduceOp::PREMUL_SUM: return HCCL_REDUCE_SUM;
    case ReduceOp::PRODUCT: return is_bool ? HCCL_REDUCE_MIN : HCCL_REDUCE_PROD;
    case ReduceOp::MIN: return HCCL_REDUCE_MIN;
    case ReduceOp::MAX: return HCCL_REDUCE_MAX;
    default: TORCH_CHECK_VALUE(false, "Cannot use ReduceOp.", name_of(op), " with HCCL");
  }
}

}  // namespace

WireType moved_as(ScalarType dtype) {
  if (const auto numbers = numbers_of(dtype)) return *numbers;
  return {HCCL_DATA_TYPE_UINT8, c10::elementSize(dtype)};
}

Reduction::Reduction(const ReduceOp& op, ScalarType dtype, const char* operation)
    : asked_(op), op_(hccl_op(op.op_, dtype)) {
  const auto numbers = numbers_of(dtype);
  TORCH_CHECK_TYPE(numbers.has_value(), operation, ": HCCL does not reduce tensors of ", dtype,
                   ": cast them to a type that it has, for instance float32");
  wire_ = *numbers;
  const bool keeps_pairs = op_ == HCCL_REDUCE_SUM;
  TORCH_CHECK_VALUE(!c10::isComplexType(dtype) || keeps_pairs, operation, " does not support ReduceOp.",
                    name_of(op.op_), " on complex tensors");
  TORCH_CHECK_TYPE(op.op_ != ReduceOp::AVG || dtype != ScalarType::Bool, operation,
                   ": cannot use ReduceOp.AVG with bool tensors");
  TORCH_CHECK_TYPE(op.op_ != ReduceOp::PREMUL_SUM || c10::isFloatingType(dtype), operation,
                   ": PreMulSum Data type must be half, float, bfloat16 or double, got ", dtype);
}

at::Tensor Reduction::scaled(const at::Tensor& input) const {
  if (asked_.op_ != ReduceOp::PREMUL_SUM) return input;
  const auto* supplement = dynamic_cast<const compat::PreMulSumSupplement*>(asked_.supplement_.get());
  TORCH_CHECK_VALUE(supplement != nullptr, "ReduceOp.PREMUL_SUM has no factor: make it by _make_nccl_premul_sum");
  if (supplement->tensor_factor.defined()) return at::mul(input, supplement->tensor_factor).to(input.scalar_type());
  return at::mul(input, supplement->double_factor);
}

void Reduction::finish(const at::Tensor& output, int ranks) const {
  if (asked_.op_ != ReduceOp::AVG) return;
  at::Tensor sum = output;
  if (c10::isIntegralType(output.scalar_type(), false)) {
    sum.div_(ranks, "trunc");
  } else {
    sum.div_(ranks);
  }
}

}  // namespace torch_npu
