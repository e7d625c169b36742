#pragma once
// The elements of VectorInstruction in memory.

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector.h"

namespace softnpu::kernel {

inline RepeatLayout layout_of(const VectorInstruction& v, const VectorOperand& operand) {
  return {lanes_of(v), bytes_of(operand.type), operand.block_stride, operand.repeat_stride};
}

inline char* element_of(const VectorInstruction& v, const VectorOperand& operand, uint64_t repeat, uint32_t lane) {
  return static_cast<char*>(operand.address) + offset_of(layout_of(v, operand), repeat, lane);
}

// Whether the blocks of a repeat follow each other in every operand.
bool has_whole_repeats(const VectorInstruction& v);

// The number of elements, if they are one piece of memory in every operand; else 0.
uint64_t contiguous_elements(const VectorInstruction& v);

// Tells which bytes the elements have in `operand`.
void touch_elements(const VectorInstruction& v, const VectorOperand& operand, bool writes, Touches* touches);

// Tells where `destination` overlaps `source`, of that name, as the unit does not take it.
void touch_overlap(const VectorInstruction& v, const VectorOperand& destination, const char* name,
                   const VectorOperand& source, Touches* touches);

// Names the operand, and tells what is wrong with its address and strides.
void touch_operand(const char* name, const VectorOperand& operand, Touches* touches);

// Tells what is wrong with mask and repeats; false: nothing else of the instruction is to be told.
[[nodiscard]] bool touch_mask(const VectorInstruction& v, Touches* touches);

}  // namespace softnpu::kernel
