// The operators that programs call by the name of their type. Facts: call sites in Ascend/op-plugin and Ascend/pytorch
// (BSD-3-Clause). See PROVENANCE.md.

#include "ops/copy/strided_copy.h"
#include "ops/elementwise/operators.h"
#include "ops/index/operators.h"
#include "ops/iterate/view.h"
#include "ops/matmul/operators.h"
#include "ops/recurrent/lstm.h"
#include "ops/typed/operators.h"

namespace softnpu {
namespace {

const aclTensor& in(const TypedCall& call, size_t place) { return call.inputs[place].tensor; }
aclTensor& out(TypedCall& call) { return call.outputs[0].tensor; }

aclScalar one() {
  aclScalar value;
  value.dtype = ACL_INT64;
  value.kind = aclScalar::Kind::kSigned;
  value.integer = 1;
  return value;
}

template <MapOp op>
Status plan_unary(TypedCall& call, Plan* plan) {
  return unary(op, in(call, 0), out(call), plan);
}

template <MapOp op>
Status plan_binary(TypedCall& call, Plan* plan) {
  return binary(op, in(call, 0), in(call, 1), out(call), plan);
}

template <MapOp op>
Status plan_scaled(TypedCall& call, Plan* plan) {
  const aclScalar scale = one();
  return binary(op, in(call, 0), in(call, 1), {&scale}, out(call), plan);
}

// Kernels give infinities and NaN where numbers overflow, and keep no state of it: the status is always 0.
Status plan_zero(TypedCall& call, Plan* plan) { return fill(out(call), 0.0, plan); }
Status plan_none(TypedCall& /*call*/, Plan* plan) { return plan_nothing(plan); }

}  // namespace

std::span<const OperatorType> operator_types() {
  static constexpr OperatorType kTypes[] = {
      {"DynamicRNN", &compile_lstm},
      {"DynamicRNNGrad", &compile_lstm_grad},
      {"DynamicRNNV2", &compile_lstm_v2},
      {"DynamicRNNV2Grad", &compile_lstm_v2_grad},
  };
  return kTypes;
}

std::span<const PlannedType> planned_types() {
  static constexpr PlannedType kTypes[] = {
      {"Abs", 1, 1, &plan_unary<MapOp::kAbs>},
      {"Add", 2, 1, &plan_scaled<MapOp::kAdd>},
      {"Cast", 1, 1, [](TypedCall& call, Plan* plan) { return cast(in(call, 0), out(call), plan); }},
      {"Ceil", 1, 1, &plan_unary<MapOp::kCeil>},
      {"Equal", 2, 1, &plan_binary<MapOp::kEq>},
      {"Exp", 1, 1, &plan_unary<MapOp::kExp>},
      {"Floor", 1, 1, &plan_unary<MapOp::kFloor>},
      {"Greater", 2, 1, &plan_binary<MapOp::kGt>},
      {"GreaterEqual", 2, 1, &plan_binary<MapOp::kGe>},
      {"Identity", 1, 1, [](TypedCall& call, Plan* plan) { return plan_copy(in(call, 0), out(call), plan); }},
      {"Less", 2, 1, &plan_binary<MapOp::kLt>},
      {"LessEqual", 2, 1, &plan_binary<MapOp::kLe>},
      {"LogicalAnd", 2, 1, &plan_binary<MapOp::kLogicalAnd>},
      {"LogicalNot", 1, 1, &plan_unary<MapOp::kLogicalNot>},
      {"LogicalOr", 2, 1, &plan_binary<MapOp::kLogicalOr>},
      {"Maximum", 2, 1, &plan_binary<MapOp::kMaximum>},
      {"Minimum", 2, 1, &plan_binary<MapOp::kMinimum>},
      {"Mul", 2, 1, &plan_binary<MapOp::kMul>},
      {"NPUAllocFloatStatus", 0, 1, &plan_zero},
      {"NPUClearFloatDebugStatus", 0, 0, &plan_none},
      {"NPUClearFloatStatus", 1, 1, &plan_zero},
      {"NPUClearFloatStatusV2", 0, 0, &plan_none},
      {"NPUGetFloatDebugStatus", 0, 1, &plan_zero},
      {"NPUGetFloatStatus", 1, 1, &plan_zero},
      {"NPUGetFloatStatusV2", 0, 1, &plan_zero},
      {"Neg", 1, 1, &plan_unary<MapOp::kNeg>},
      {"NonZero", 1, 1, [](TypedCall& call, Plan* plan) { return nonzero(in(call, 0), false, out(call), plan); }},
      {"NotEqual", 2, 1, &plan_binary<MapOp::kNe>},
      {"RealDiv", 2, 1,
       [](TypedCall& call, Plan* plan) { return divide(in(call, 0), in(call, 1), 0, out(call), plan); }},
      {"Relu", 1, 1, &plan_unary<MapOp::kRelu>},
      {"Sigmoid", 1, 1, &plan_unary<MapOp::kSigmoid>},
      {"Sqrt", 1, 1, &plan_unary<MapOp::kSqrt>},
      {"Sub", 2, 1, &plan_scaled<MapOp::kSub>},
      {"Tanh", 1, 1, &plan_unary<MapOp::kTanh>},
      {"ZerosLike", 1, 1, &plan_zero},
  };
  return kTypes;
}

}  // namespace softnpu
