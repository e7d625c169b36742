#include "ops/elementwise/map_op.h"

namespace softnpu {
namespace {

// Null where float32 has no kernel of its own.
MapKernel float32_kernel(MapOp op) {
  switch (op) {
    case MapOp::kExp2:
    case MapOp::kAsin:
    case MapOp::kAcos:
    case MapOp::kTanh:
    case MapOp::kErf:
    case MapOp::kErfinv:
    case MapOp::kGelu:
    case MapOp::kGeluTanh:
    case MapOp::kGeluBackward:
    case MapOp::kSiluBackward:
    case MapOp::kLogSigmoidBackward: return float_math_kernel(op);
    case MapOp::kTan:
    case MapOp::kSinc:
    case MapOp::kAtan2: return trigonometry_kernel(op);
    case MapOp::kSinh:
    case MapOp::kCosh:
    case MapOp::kAsinh:
    case MapOp::kAcosh:
    case MapOp::kAtanh: return hyperbolic_kernel(op);
    case MapOp::kPow:
    case MapOp::kXlogy:
    case MapOp::kLogAddExp:
    case MapOp::kLogAddExp2: return power_kernel(op);
    case MapOp::kFmod:
    case MapOp::kRemainder:
    case MapOp::kFloorDivide: return remainder_kernel(op);
    case MapOp::kErfc: return erfc_kernel(op);
    case MapOp::kMish:
    case MapOp::kSoftplus:
    case MapOp::kElu:
    case MapOp::kLogSigmoid:
    case MapOp::kLogit:
    case MapOp::kGeluTanhBackward:
    case MapOp::kMishBackward:
    case MapOp::kSoftplusBackward:
    case MapOp::kEluBackward: return activation_kernel(op);
    default: return nullptr;
  }
}

}  // namespace

MapKernel map_kernel(MapOp op, Wide wide) {
  if (wide == Wide::kC64 || wide == Wide::kC128) return complex_kernel(op, wide);
  if (wide == Wide::kF32) {
    if (MapKernel kernel = float32_kernel(op)) return kernel;
  }
  if (MapKernel kernel = arithmetic_kernel(op, wide)) return kernel;
  if (MapKernel kernel = gradient_kernel(op, wide)) return kernel;
  return math_kernel(op, wide);
}

}  // namespace softnpu
