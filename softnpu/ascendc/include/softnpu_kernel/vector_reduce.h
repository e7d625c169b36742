#pragma once
// Reductions of vectors, as data.

#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/repeats.h"

namespace softnpu::kernel {

// Repeats of the source are reduced to values. Within a repeat values are added as a binary tree over neighbouring
// pairs; values of several repeats in their order. Half rounds after each addition.
struct ReduceInstruction : Instruction {
  enum class Operation : uint8_t { kSum, kMax, kMin };
  enum class Span : uint8_t {
    kAll,     // one value of all repeats
    kRepeat,  // one of each repeat
    kBlock,   // one of each block
    kPair,    // one of each pair
    kRow      // `repeats` rows that are `row_step` bytes apart: one of the first `row_elements` of each
  };
  enum class Result : uint8_t { kValue, kValueIndex };

  Memory destination;
  Memory source;
  Memory work;  // no address: the form has none
  RepeatMask mask;
  uint64_t row_elements;
  uint64_t row_step;
  uint32_t repeats;
  uint32_t most_repeats;
  uint32_t destination_repeat;  // values (kRepeat), or the values of one repeat (kBlock, kPair)
  uint32_t source_stride;       // of the blocks of one repeat, in blocks
  uint32_t source_repeat;       // of repeats, in blocks
  Operation operation;
  Span span;
  Result result;
  DataType type;
};

SOFTNPU_KERNEL_EXPORT void execute_reduce(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_reduce(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
