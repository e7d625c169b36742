#pragma once
// The mask of the vector unit, as it stays between instructions. Sources: its use in DrivingSDK and sgl-kernel-npu
// kernels.

#include <algorithm>
#include <array>
#include <cstdint>

#include "softnpu_kernel/core.h"
#include "softnpu_kernel/repeats.h"

namespace AscendC {

// Stands in the place of a mask where an instruction takes the core's.
inline constexpr uint64_t MASK_PLACEHOLDER = 0;

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

// The words of a mask of the first `count` elements.
struct MaskWords {
  uint64_t words[2];
};
constexpr MaskWords first_elements(uint64_t count) {
  const auto ones = [](uint64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
  return {{ones(std::min<uint64_t>(count, 64)), count > 64 ? ones(count - 64) : 0}};
}

// Back from counter mode, in which the mask is a number of elements and the number of repeats follows from it.
inline void SetMaskNorm() { softnpu::kernel::current_block()->mask_counter_mode = false; }

// Bits 64 to 127, and 0 to 63. T is the element type of the instructions to come. `mode` is the core's from then on.
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t high, uint64_t low) {
  softnpu::kernel::Block* block = softnpu::kernel::current_block();
  block->vector_mask[0] = low;
  block->vector_mask[1] = high;
  block->mask_counter_mode = mode == MaskMode::COUNTER;
}
// A number of elements: of each repeat, or in counter mode of all.
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t count) {
  if constexpr (mode == MaskMode::COUNTER) {
    SetVectorMask<T, mode>(0, static_cast<uint64_t>(count));
  } else {
    const MaskWords mask = first_elements(static_cast<uint64_t>(count));
    SetVectorMask<T, mode>(mask.words[1], mask.words[0]);
  }
}

// All elements.
inline void ResetMask() { SetVectorMask<uint8_t>(~uint64_t{0}, ~uint64_t{0}); }

namespace inner {

// The mask of an instruction from that of its call: the first `mask` elements; with `sets_mask` false, the core's.
template <bool sets_mask>
softnpu::kernel::RepeatMask mask_of(int64_t mask) {
  const softnpu::kernel::Block& block = *softnpu::kernel::current_block();
  softnpu::kernel::RepeatMask made{};
  if (block.mask_counter_mode) {
    made.elements = sets_mask ? static_cast<uint64_t>(mask) : block.vector_mask[0];
    return made;
  }
  const MaskWords words = first_elements(static_cast<uint64_t>(mask));
  for (int i = 0; i < 2; ++i) made.bits[i] = sets_mask ? words.words[i] : block.vector_mask[i];
  return made;
}
// The elements whose bits are set, those of the first word first.
template <bool sets_mask>
softnpu::kernel::RepeatMask mask_of(const uint64_t (&mask)[2]) {
  if constexpr (!sets_mask) return mask_of<false>(0);
  return {{mask[0], mask[1]}, 0};
}

// `count` elements of as many repeats as they fill.
constexpr softnpu::kernel::RepeatMask all_of(uint64_t count) { return {{0, 0}, count}; }

}  // namespace inner

}  // namespace AscendC
