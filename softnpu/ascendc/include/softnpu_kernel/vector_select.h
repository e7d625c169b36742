#pragma once
// Comparisons, whose results are bits, and choices by such bits, as data.

#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/vector.h"

namespace softnpu::kernel {

enum class Comparison : uint8_t { kLt, kGt, kEq, kLe, kGe, kNe };

// Elements as in VectorInstruction; with one source, its scalar stands in the place of the second. Bit i of the
// destination is that of element i of all repeats, the least of a byte first.
struct CompareInstruction : VectorInstruction {
  Comparison comparison;
  bool fills_repeats;  // the form takes whole repeats
};

// The destination's elements are of the first source where the bit is 1, else of the second or the scalar.
struct SelectInstruction : VectorInstruction {
  VectorOperand bits;
  bool repeats_bits;  // every repeat uses the first ones
};

SOFTNPU_KERNEL_EXPORT void execute_compare(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_compare(const Instruction& instruction, Touches* touches);
SOFTNPU_KERNEL_EXPORT void execute_select(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_select(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
