// The functions that simd/math computes.

#include <optional>

#include "ops/math/elementwise/map_op.h"
#include "simd/math/functions.h"

namespace softnpu {
namespace {

std::optional<MathFunction> function_of(MapOp op) {
  switch (op) {
    case MapOp::kAcos: return MathFunction::kAcos;
    case MapOp::kAcosh: return MathFunction::kAcosh;
    case MapOp::kAsin: return MathFunction::kAsin;
    case MapOp::kAsinh: return MathFunction::kAsinh;
    case MapOp::kAtan: return MathFunction::kAtan;
    case MapOp::kAtan2: return MathFunction::kAtan2;
    case MapOp::kAtanh: return MathFunction::kAtanh;
    case MapOp::kCos: return MathFunction::kCos;
    case MapOp::kCosh: return MathFunction::kCosh;
    case MapOp::kElu: return MathFunction::kElu;
    case MapOp::kEluBackward: return MathFunction::kEluBackward;
    case MapOp::kErf: return MathFunction::kErf;
    case MapOp::kErfc: return MathFunction::kErfc;
    case MapOp::kErfinv: return MathFunction::kErfinv;
    case MapOp::kExp: return MathFunction::kExp;
    case MapOp::kExp2: return MathFunction::kExp2;
    case MapOp::kExpm1: return MathFunction::kExpm1;
    case MapOp::kFloorDivide: return MathFunction::kFloorDivide;
    case MapOp::kFmod: return MathFunction::kFmod;
    case MapOp::kGelu: return MathFunction::kGelu;
    case MapOp::kGeluBackward: return MathFunction::kGeluBackward;
    case MapOp::kGeluTanh: return MathFunction::kGeluTanh;
    case MapOp::kGeluTanhBackward: return MathFunction::kGeluTanhBackward;
    case MapOp::kLog: return MathFunction::kLog;
    case MapOp::kLog10: return MathFunction::kLog10;
    case MapOp::kLog1p: return MathFunction::kLog1p;
    case MapOp::kLog2: return MathFunction::kLog2;
    case MapOp::kLogAddExp: return MathFunction::kLogAddExp;
    case MapOp::kLogAddExp2: return MathFunction::kLogAddExp2;
    case MapOp::kLogSigmoid: return MathFunction::kLogSigmoid;
    case MapOp::kLogSigmoidBackward: return MathFunction::kLogSigmoidBackward;
    case MapOp::kLogit: return MathFunction::kLogit;
    case MapOp::kMish: return MathFunction::kMish;
    case MapOp::kMishBackward: return MathFunction::kMishBackward;
    case MapOp::kPow: return MathFunction::kPow;
    case MapOp::kRemainder: return MathFunction::kRemainder;
    case MapOp::kSigmoid: return MathFunction::kSigmoid;
    case MapOp::kSilu: return MathFunction::kSilu;
    case MapOp::kSiluBackward: return MathFunction::kSiluBackward;
    case MapOp::kSin: return MathFunction::kSin;
    case MapOp::kSinc: return MathFunction::kSinc;
    case MapOp::kSinh: return MathFunction::kSinh;
    case MapOp::kSoftplus: return MathFunction::kSoftplus;
    case MapOp::kSoftplusBackward: return MathFunction::kSoftplusBackward;
    case MapOp::kTan: return MathFunction::kTan;
    case MapOp::kTanh: return MathFunction::kTanh;
    case MapOp::kXlogy: return MathFunction::kXlogy;
    default: return std::nullopt;
  }
}

}  // namespace

MapKernel math_kernel(MapOp op, ComputeType compute_type) {
  const std::optional<MathFunction> function = function_of(op);
  if (!function.has_value()) return nullptr;
  switch (compute_type) {
    case ComputeType::kF32: return math_kernel(*function, FloatType::kF32);
    case ComputeType::kF64: return math_kernel(*function, FloatType::kF64);
    default: return nullptr;
  }
}

}  // namespace softnpu
