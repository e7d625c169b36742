#pragma once
// Vector instructions that move elements by offsets, patterns and shapes, as data.

#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/repeats.h"

namespace softnpu::kernel {

// Elements at places that offsets in bytes name, one behind the other.
struct GatherInstruction : Instruction {
  Memory dense;    // the destination
  Memory spread;   // the source
  Memory offsets;  // uint32_t: one for each element of each repeat
  RepeatMask mask;
  uint32_t base;  // in bytes, added to each offset
  uint32_t repeats;
  uint32_t dense_repeat;  // of repeats of the dense side, in blocks
  uint32_t element_bytes;
};
SOFTNPU_KERNEL_EXPORT void execute_gather(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_gather(const Instruction& instruction, Touches* touches);

// Elements that a pattern chooses, one behind the other.
struct GatherMaskInstruction : Instruction {
  Memory destination;
  Memory source;
  Memory pattern;      // bits, of the first element first; no address: `fixed`
  uint64_t* gathered;  // receives the number of elements; may be null
  uint64_t elements;   // of each repeat
  uint32_t fixed;      // 1: even, 2: odd, 3 to 6: every fourth from the first to the fourth on, 7: all
  uint32_t repeats;
  uint32_t source_stride;  // in blocks, as the following
  uint32_t source_repeat;
  uint32_t pattern_repeat;
  uint32_t element_bytes;
};
SOFTNPU_KERNEL_EXPORT void execute_gather_mask(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_gather_mask(const Instruction& instruction, Touches* touches);
// How many elements a fixed pattern chooses.
SOFTNPU_KERNEL_EXPORT uint64_t gathered_by(const GatherMaskInstruction& instruction);

// Elements that are repeated: to[outer][copy][inner] = from[outer][inner], steps in bytes.
struct SpreadInstruction : Instruction {
  enum class Kind : uint8_t {
    kBlocks,  // Brcb: 8 elements of each repeat, each to a block
    kShape    // BroadCast
  };
  Memory destination;
  Memory source;
  uint32_t repeats;
  uint32_t destination_stride;  // of blocks, in blocks
  uint32_t destination_repeat;
  uint32_t element_bytes;
  uint64_t outer;
  uint64_t copies;
  uint64_t inner;
  Kind kind;
};
SOFTNPU_KERNEL_EXPORT void execute_spread(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_spread(const Instruction& instruction, Touches* touches);

// Element i of repeat r becomes first + (r * elements of a repeat + i) * step, rounded once.
struct ProgressionInstruction : Instruction {
  Memory destination;
  RepeatMask mask;
  double first;
  double step;
  uint32_t repeats;
  uint32_t destination_stride;
  uint32_t destination_repeat;
  DataType type;
};
SOFTNPU_KERNEL_EXPORT void execute_progression(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_progression(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
