#pragma once
// The functions that tensors are mapped by, and where their kernels are.

#include "ops/elementwise/map.h"

namespace softnpu {

// a, b, c: inputs; k0, k1, k2: constants.
enum class MapOp : uint8_t {
  // Of one value, in every type.
  kIdentity,
  kAbs,
  kNeg,
  kSign,
  kSquare,
  kCube,
  kReciprocal,
  kReciprocalSquare,
  kRelu,
  kCeil,
  kFloor,
  kTrunc,
  kRound,          // to the nearest, halves to the even one
  kRoundDecimals,  // to a multiple of 1/k0 (k1 = 0) or of k0 (k1 = 1)
  kFrac,
  kBitwiseNot,
  kLogicalNot,
  kIsFinite,
  kIsPosInf,
  kIsNegInf,
  kSignbit,
  kThreshold,    // a > k0 ? a : k1
  kClamp,        // to [k0, k1]
  kClampMin,     // k0
  kClampMax,     // k0
  kLeakyRelu,    // a > 0 ? a : a * k0
  kHardsigmoid,  // relu6(a + 3) / 6
  kHardswish,    // a * relu6(a + 3) / 6
  kHardshrink,   // |a| <= k0 ? 0 : a
  kSoftshrink,   // a shrunk by k0 towards 0
  kNanToNum,     // k0 for NaN, k1 for inf, k2 for -inf
  // Of one value, floating point and complex.
  kSqrt,
  kRsqrt,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSigmoid,
  kSilu,
  kSinc,
  // Of one value, floating point.
  kErf,
  kErfc,
  kErfinv,
  kGelu,
  kGeluTanh,
  kMish,
  kSoftplus,    // log(1 + exp(k0 a)) / k0, or a where k0 a > k1
  kElu,         // a > 0 ? k1 a : k0 k1 (exp(k2 a) - 1)
  kLogSigmoid,  // log(sigmoid(a))
  kLogit,       // of a clamped to [k0, 1 - k0]; k0 < 0 for no clamp
  // Of two values.
  kAdd,   // a + k0 b
  kSub,   // a - k0 b
  kRsub,  // b - k0 a
  kMul,
  kDiv,
  kFloorDivide,
  kTruncDivide,
  kFmod,       // the sign of a
  kRemainder,  // the sign of b
  kMaximum,    // NaN where one is NaN
  kMinimum,
  kPow,
  kAtan2,
  kEq,
  kNe,
  kGt,
  kGe,
  kLt,
  kLe,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kLeftShift,
  kRightShift,
  kXlogy,
  kLogAddExp,
  kLogAddExp2,
  kGcd,
  kIsClose,  // |a - b| <= k1 + k0 |b|, NaN beside NaN where k2
  // Gradients: a is that of the result.
  kSigmoidBackward,      // b: the result
  kTanhBackward,         // b: the result
  kThresholdBackward,    // b > k0 ? a : 0
  kLeakyReluBackward,    // b > 0 ? a : a k0
  kHardtanhBackward,     // k0 < b < k1 ? a : 0
  kHardsigmoidBackward,  // -3 < b < 3 ? a / 6 : 0
  kHardswishBackward,
  kHardshrinkBackward,  // |b| <= k0 ? 0 : a, of softshrink, too
  kSiluBackward,
  kGeluBackward,
  kGeluTanhBackward,
  kMishBackward,
  kSoftplusBackward,     // k0, k1 as above
  kEluBackward,          // k0, k1, k2 as above; b: the input
  kEluBackwardOfResult,  // b: the result
  kLogSigmoidBackward,
  kLogitBackward,  // k0 as above
  // Of three values.
  kWhere,        // a ? b : c
  kAddcmul,      // a + k0 b c
  kAddcdiv,      // a + k0 b / c
  kLerp,         // from a to b by c
  kLerpBy,       // from a to b by k0 (two values)
  kClampTensor,  // a to [b, c]
};

// The kernel of `op` on values of type `compute_type`; null where it is not defined for them.
MapKernel map_kernel(MapOp op, ComputeType compute_type);

// The parts of the above, one file each.
MapKernel arithmetic_kernel(MapOp op, ComputeType compute_type);
MapKernel gradient_kernel(MapOp op, ComputeType compute_type);
MapKernel math_kernel(MapOp op, ComputeType compute_type);
MapKernel complex_kernel(MapOp op, ComputeType compute_type);

// Of float32 alone: null for all that are not theirs.
MapKernel float_math_kernel(MapOp op);
MapKernel trigonometry_kernel(MapOp op);
MapKernel hyperbolic_kernel(MapOp op);
MapKernel power_kernel(MapOp op);
MapKernel remainder_kernel(MapOp op);
MapKernel erfc_kernel(MapOp op);
MapKernel activation_kernel(MapOp op);

}  // namespace softnpu
