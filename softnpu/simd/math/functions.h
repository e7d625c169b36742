#pragma once
// Mathematical functions of contiguous numbers, by vectors of the best instructions that the CPU has.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Computes `count` values of each input; `out` may be one of the inputs. `constants` are of the function's own type.
using MathKernel = void (*)(void* out, const void* const* in, size_t count, const void* constants);

enum class FloatType : uint8_t { kF32, kF64 };

// As PyTorch's functions of these names. Backward: gradients, of (gradient, the function's argument).
enum class MathFunction : uint8_t {
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtan2,
  kAtanh,
  kCos,
  kCosh,
  kElu,
  kEluBackward,
  kErf,
  kErfc,
  kErfinv,
  kExp,
  kExp2,
  kExpm1,
  kFloorDivide,
  kFmod,
  kGelu,
  kGeluBackward,
  kGeluTanh,
  kGeluTanhBackward,
  kLog,
  kLog10,
  kLog1p,
  kLog2,
  kLogAddExp,
  kLogAddExp2,
  kLogSigmoid,
  kLogSigmoidBackward,
  kLogit,
  kMish,
  kMishBackward,
  kPow,
  kRemainder,
  kSigmoid,
  kSilu,
  kSiluBackward,
  kSin,
  kSinc,
  kSinh,
  kSoftplus,
  kSoftplusBackward,
  kTan,
  kTanh,
  kXlogy,
};

// Null if the function is not defined for the type.
MathKernel math_kernel(MathFunction function, FloatType type);

// The parts of math_kernel(), one file each.
MathKernel elementary_kernel(MathFunction function, FloatType type);
// For float32 only; null if the file does not define the function.
MathKernel float_math_kernel(MathFunction function);
MathKernel trigonometry_kernel(MathFunction function);
MathKernel hyperbolic_kernel(MathFunction function);
MathKernel power_kernel(MathFunction function);
MathKernel remainder_kernel(MathFunction function);
MathKernel erfc_kernel(MathFunction function);
MathKernel activation_kernel(MathFunction function);

}  // namespace softnpu
