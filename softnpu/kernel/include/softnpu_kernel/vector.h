#pragma once
// Instructions of the vector unit that compute element by element, as data.

#include <cstdint>
#include <cstring>

#include "softnpu_kernel/core.h"

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
  // Two sources and what the destination holds.
  kMulAddDst,
  // One source and a scalar.
  kAdds,
  kMuls,
  kMaxs,
  kMins,
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
  bool is_counted;    // `count` contiguous elements; else `repeats` of those that `mask` has
  bool right_rounds;  // ShiftRight: rounds to nearest
  VectorOperand destination;
  VectorOperand source[2];
  uint64_t count;
  uint64_t mask[2];
  uint32_t repeats;
  alignas(8) unsigned char scalar[8];  // of the source's type
};

SOFTNPU_KERNEL_EXPORT void execute_vector(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_vector(const Instruction& instruction, Touches* touches);

constexpr uint32_t bytes_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBits: return 1;
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16: return 2;
    case DataType::kFloat:
    case DataType::kInt32:
    case DataType::kUint32: return 4;
    case DataType::kInt64:
    case DataType::kUint64: return 8;
  }
  return 0;
}

}  // namespace softnpu::kernel
