#pragma once
// Fills memory with a repeated element.

#include <array>
#include <cstddef>

namespace softnpu {

// 16 bytes: an element, repeated; its size divides 16.
using FillPattern = std::array<std::byte, 16>;

// Writes the pattern to `bytes` bytes again and again, by whole vectors; the last copy may be incomplete.
void fill_pattern(void* to, size_t bytes, const FillPattern& pattern);

}  // namespace softnpu
