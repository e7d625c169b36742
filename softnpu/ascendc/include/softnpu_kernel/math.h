#pragma once
// Mathematical functions of whole tensors, as data.

#include <cstdint>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

// to[i] = function(from[i]), or of from[i] and a number or another element. Computed in double, rounded to float, and
// from that to half.
struct MathInstruction : Instruction {
  enum class Function : uint8_t {
    kSin,
    kCos,
    kTan,
    kAtan,
    kLog,
    kSign,
    kCeil,
    kFloor,
    kRound,
    kTrunc,
    kPower,
    kClampMax,
    kClampMin,
    kFmod
  };

  Memory destination;
  Memory source;
  Memory other;   // kFmod: the divisors
  double number;  // the exponent or bound
  uint64_t count;
  Function function;
  DataType type;  // half or float
};

SOFTNPU_KERNEL_EXPORT void execute_math(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_math(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
