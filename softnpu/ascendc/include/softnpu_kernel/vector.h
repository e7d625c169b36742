#pragma once
// Instructions of the vector unit that compute element by element, as data.

#include <algorithm>
#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/repeats.h"

namespace softnpu::kernel {

enum class VectorOp : uint8_t {
  // One source.
  kAbs,
  kExp,
  kSqrt,
  kRelu,
  kNot,
  kCast,
  // Two sources.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kAnd,
  kOr,
  kAddRelu,
  // Two sources and what the destination holds.
  kMulAddDst,
  // One source and a scalar.
  kAdds,
  kMuls,
  kMaxs,
  kMins,
  kLeakyRelu,
  kShiftLeft,
  kShiftRight,
  // One source, a scalar and what the destination holds.
  kAxpy,
  // A scalar.
  kDuplicate,
  kCount
};

enum class Rounding : uint8_t { kNone, kRint, kFloor, kCeil, kRound, kTrunc };

struct VectorOperand {
  void* address;
  uint64_t tensor_bytes;   // of its tensor from `address` on
  uint32_t block_stride;   // from one 32-byte block of a repeat to the next, in blocks
  uint32_t repeat_stride;  // from one repeat to the next, in blocks
  DataType type;
};

struct VectorInstruction : Instruction {
  VectorOp op;
  Rounding rounding;
  uint8_t sources;
  bool right_rounds;  // ShiftRight: rounds to nearest
  VectorOperand destination;
  VectorOperand source[2];
  RepeatMask mask;
  uint32_t repeats;
  alignas(8) unsigned char scalar[8];  // of the source's type
};

SOFTNPU_KERNEL_EXPORT void execute_vector(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_vector(const Instruction& instruction, Touches* touches);

// Elements of one repeat.
inline uint32_t lanes_of(const VectorInstruction& v) {
  uint32_t widest = bytes_of(v.destination.type);
  for (int i = 0; i < v.sources; ++i) widest = std::max(widest, bytes_of(v.source[i].type));
  return kRepeatBytes / widest;
}

}  // namespace softnpu::kernel
