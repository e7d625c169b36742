#pragma once
// How vector instructions walk over the blocks and elements of their repeats.

#include <algorithm>
#include <cstdint>

#include "softnpu_kernel/vector_reduce.h"

namespace softnpu::kernel {

inline constexpr uint32_t kVectorBlockBytes = 32;
inline constexpr uint32_t kVectorRepeatBytes = 256;
inline constexpr uint32_t kMostRepeatElements = kVectorRepeatBytes / 2;

constexpr uint32_t bytes_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8: return 1;
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16: return 2;
    case DataType::kInt64:
    case DataType::kUint64: return 8;
    default: return 4;
  }
}

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

// Whether repeat `repeat` has all its elements.
inline bool is_full(const RepeatMask& mask, uint64_t repeat, uint32_t of_repeat) {
  if (mask.elements > 0) return (repeat + 1) * of_repeat <= mask.elements;
  return ~mask.bits[0] == 0 && (of_repeat <= 64 || ~mask.bits[1] == 0);
}

// What is wrong with a mask for elements of `bytes` bytes; null: nothing.
inline const char* misuse_of_mask(const RepeatMask& mask, uint32_t bytes) {
  if (mask.elements > 0) return nullptr;
  if (mask.bits[0] == 0 && (mask.bits[1] == 0 || bytes >= 4)) return "the mask is empty";
  if (bytes >= 4 && mask.bits[1] != 0 && ~mask.bits[1] != 0)
    return "the mask has bits for more than 64 elements of 4 bytes";
  return nullptr;
}

// Calls run(first element, elements, offset in bytes) for each run of masked elements within one block of `repeat`.
template <typename Run>
void for_masked_runs(const RepeatMask& mask, uint64_t repeat, uint32_t element_bytes, uint32_t stride,
                     uint64_t repeat_step, const Run& run) {
  const uint32_t of_block = kVectorBlockBytes / element_bytes;
  const uint32_t of_repeat = of_block * 8;
  for (uint32_t i = 0; i < of_repeat;) {
    if (!is_masked(mask, repeat, i, of_repeat)) {
      ++i;
      continue;
    }
    const uint32_t block = i / of_block;
    uint32_t end = i;
    while (end < (block + 1) * of_block && is_masked(mask, repeat, end, of_repeat)) ++end;
    run(i, end - i,
        (repeat * repeat_step + uint64_t{block} * stride) * kVectorBlockBytes + uint64_t{i % of_block} * element_bytes);
    i = end;
  }
}

}  // namespace softnpu::kernel
