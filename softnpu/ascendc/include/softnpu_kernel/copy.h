#pragma once
// Copies between memories, as data.

#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/repeats.h"

namespace softnpu::kernel {

// `bursts` times `burst_bytes` bytes. Burst i is read at source + i * source_step; at destination + i *
// destination_step it is written behind `left_bytes` of padding and before `right_bytes`.
struct CopyInstruction : Instruction {
  enum class Padding : uint8_t {
    kNone,
    kValue,  // `value`
    kFirst   // bytes that the kernel does not choose: each burst's first element
  };

  Memory destination;
  Memory source;
  uint32_t bursts;
  uint32_t burst_bytes;
  uint64_t destination_step;
  uint64_t source_step;
  uint32_t left_bytes;
  uint32_t right_bytes;  // chosen by the kernel
  uint32_t fill_bytes;   // from there to the end of a block of local memory
  uint32_t element_bytes;
  uint64_t value;         // an element of the padding
  uint64_t count;         // of elements, where the kernel gives that; else 0
  uint64_t buffer_bytes;  // of the buffer in global memory that is written to; 0: not known
  Padding padding;
  bool is_global_source;
  bool is_global_destination;
  // Limits that the form has.
  uint32_t most_bursts;
  uint32_t most_burst_bytes;
  AtomicMode atomic;
};

SOFTNPU_KERNEL_EXPORT void execute_copy(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_copy(const Instruction& instruction, Touches* touches);

// `repeats` times up to 8 blocks within local memory, of which the masked elements are copied.
struct MaskedCopyInstruction : Instruction {
  Memory destination;
  Memory source;
  RepeatMask mask;
  uint32_t element_bytes;
  uint32_t repeats;
  uint32_t destination_stride;  // of the blocks of one repeat, in blocks
  uint32_t source_stride;
  uint32_t destination_repeat;  // of repeats, in blocks
  uint32_t source_repeat;
};

SOFTNPU_KERNEL_EXPORT void execute_masked_copy(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_masked_copy(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
