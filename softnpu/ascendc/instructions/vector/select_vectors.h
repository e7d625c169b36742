#pragma once
// Comparisons and choices of elements that follow each other, in vectors.

#include <cstddef>

#include "softnpu_kernel/vector_select.h"

namespace softnpu::kernel {

// How many of the first `count` elements are done, a multiple of 8. Element i of each operand is behind element i - 1.
size_t compare_vectors(const CompareInstruction& instruction, size_t count);
size_t select_vectors(const SelectInstruction& instruction, size_t count);

}  // namespace softnpu::kernel
