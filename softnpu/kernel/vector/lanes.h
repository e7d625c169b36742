#pragma once
// The order of a repeat's elements in memory: blocks of 32 bytes, `block_stride` blocks apart.

#include <algorithm>
#include <bit>

#include "softnpu_kernel/vector.h"

namespace softnpu::kernel {

inline constexpr uint32_t kVectorBytes = 256;  // of a repeat's widest operand
inline constexpr uint32_t kVectorBlock = 32;

// Elements of one repeat.
inline uint32_t lanes_of(const VectorInstruction& v) {
  uint32_t widest = bytes_of(v.destination.type);
  for (int i = 0; i < v.sources; ++i) widest = std::max(widest, bytes_of(v.source[i].type));
  return kVectorBytes / widest;
}

inline bool is_active(const VectorInstruction& v, uint32_t lane) { return (v.mask[lane / 64] >> (lane % 64)) & 1; }

// How many elements from the first on the mask has, if it has no others; else 0.
inline uint32_t prefix_of(const VectorInstruction& v, uint32_t lanes) {
  uint32_t prefix = 0;
  while (prefix < lanes && is_active(v, prefix)) ++prefix;
  for (uint32_t lane = prefix; lane < lanes; ++lane) {
    if (is_active(v, lane)) return 0;
  }
  return prefix;
}

// The address of element `lane` of a repeat.
inline char* element_of(const VectorOperand& operand, uint32_t repeat, uint32_t lane) {
  const uint32_t bytes = lane * bytes_of(operand.type);
  return static_cast<char*>(operand.address) +
         (uint64_t{repeat} * operand.repeat_stride + uint64_t{bytes / kVectorBlock} * operand.block_stride) *
             kVectorBlock +
         bytes % kVectorBlock;
}

}  // namespace softnpu::kernel
