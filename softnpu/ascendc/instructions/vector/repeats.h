#pragma once
// How vector instructions walk over the blocks and elements of their repeats.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

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
  if (mask.elements > 0) {
    const uint64_t first = repeat * of_repeat;
    return first < mask.elements ? static_cast<uint32_t>(std::min<uint64_t>(of_repeat, mask.elements - first)) : 0;
  }
  const uint64_t low = of_repeat < 64 ? mask.bits[0] & ((uint64_t{1} << of_repeat) - 1) : mask.bits[0];
  const uint64_t high = of_repeat > 64 ? mask.bits[1] : 0;
  const int prefix = ~low != 0 ? std::countr_one(low) : 64 + std::countr_one(high);
  return std::popcount(low) + std::popcount(high) == prefix ? static_cast<uint32_t>(prefix) : 0;
}

// What is wrong with a mask for elements of `bytes` bytes; null: nothing. All bits are those of ResetMask, for any
// type.
inline const char* misuse_of_mask(const RepeatMask& mask, uint32_t bytes) {
  if (mask.elements > 0) return nullptr;
  const bool is_whole = (mask.bits[0] & mask.bits[1]) == ~uint64_t{0};
  if (bytes == 4 && mask.bits[1] != 0 && !is_whole) return "the mask has bits for more than 64 elements of 4 bytes";
  if (bytes == 8 && (mask.bits[0] >> 32 != 0 || mask.bits[1] != 0) && !is_whole)
    return "the mask has bits for more than 32 elements of 8 bytes";
  return mask.bits[0] == 0 && mask.bits[1] == 0 ? "the mask is empty" : nullptr;
}

// Tells where there are more repeats than the unit counts: false, and nothing else of the instruction is to be told.
inline bool touch_repeats(const RepeatMask& mask, uint32_t repeats, Touches* touches, uint32_t most = 255) {
  if (mask.elements > 0 || repeats <= most) return true;
  touches->misuse(("repeatTime is " + std::to_string(repeats) + ", at most " + std::to_string(most)).c_str());
  return false;
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
