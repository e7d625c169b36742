#pragma once
// How vector instructions walk over the blocks and elements of their repeats.

#include <algorithm>
#include <cstdint>

#include "softnpu_kernel/instruction.h"
#include "softnpu_kernel/repeats.h"

namespace softnpu::kernel {

inline bool is_aligned(const Memory& memory, uint64_t bytes) {
  return reinterpret_cast<uintptr_t>(memory.address) % bytes == 0;
}

// Whether the mask has element `i` of repeat `repeat`, of `of_repeat` elements each.
inline bool is_masked(const RepeatMask& mask, uint64_t repeat, uint32_t i, uint32_t of_repeat) {
  if (mask.elements > 0) return repeat * of_repeat + i < mask.elements;
  return ((mask.bits[i / 64] >> (i % 64)) & 1) != 0;
}

inline uint64_t repeats_of(const RepeatMask& mask, uint32_t repeats, uint32_t of_repeat) {
  return mask.elements > 0 ? (mask.elements + of_repeat - 1) / of_repeat : repeats;
}

// How many elements of `repeat` the mask has, if these are the first ones; else 0.
inline uint32_t prefix_of(const RepeatMask& mask, uint64_t repeat, uint32_t of_repeat) {
  uint32_t prefix = 0;
  while (prefix < of_repeat && is_masked(mask, repeat, prefix, of_repeat)) ++prefix;
  for (uint32_t i = prefix; i < of_repeat; ++i) {
    if (is_masked(mask, repeat, i, of_repeat)) return 0;
  }
  return prefix;
}

// What is wrong with a mask for elements of `bytes` bytes; null: nothing.
inline const char* misuse_of_mask(const RepeatMask& mask, uint32_t bytes) {
  if (mask.elements > 0) return nullptr;
  if (mask.bits[0] == 0 && (mask.bits[1] == 0 || bytes >= 4)) return "the mask is empty";
  if (bytes >= 4 && mask.bits[1] != 0 && ~mask.bits[1] != 0)
    return "the mask has bits for more than 64 elements of 4 bytes";
  return nullptr;
}

// Where an operand has its elements.
struct RepeatLayout {
  uint32_t of_repeat;  // elements
  uint32_t element_bytes;
  uint32_t stride;       // of the blocks of one repeat, in blocks
  uint64_t repeat_step;  // of repeats, in blocks
};

// The layout of repeats of 8 whole blocks.
constexpr RepeatLayout whole_repeats(uint32_t element_bytes, uint32_t stride, uint64_t repeat_step) {
  return {kRepeatBytes / element_bytes, element_bytes, stride, repeat_step};
}

// Where element `i` of `repeat` is, in bytes.
inline uint64_t offset_of(const RepeatLayout& layout, uint64_t repeat, uint32_t i) {
  const uint32_t bytes = i * layout.element_bytes;
  return (repeat * layout.repeat_step + uint64_t{bytes / kBlockBytes} * layout.stride) * kBlockBytes +
         bytes % kBlockBytes;
}

// Calls run(first element, elements, offset in bytes) for each run of masked elements within one block of `repeat`.
template <typename Run>
void for_masked_runs(const RepeatMask& mask, uint64_t repeat, const RepeatLayout& layout, const Run& run) {
  const uint32_t of_block = kBlockBytes / layout.element_bytes;
  for (uint32_t i = 0; i < layout.of_repeat;) {
    if (!is_masked(mask, repeat, i, layout.of_repeat)) {
      ++i;
      continue;
    }
    const uint32_t behind = std::min((i / of_block + 1) * of_block, layout.of_repeat);
    uint32_t end = i;
    while (end < behind && is_masked(mask, repeat, end, layout.of_repeat)) ++end;
    run(i, end - i, offset_of(layout, repeat, i));
    i = end;
  }
}

}  // namespace softnpu::kernel
