#pragma once
// The mask of the vector unit, as it stays between instructions. Sources: its use in DrivingSDK and sgl-kernel-npu
// kernels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>

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

// Makes the first `mask` elements, of `lanes` of a repeat, the core's mask; in counter mode, of all repeats.
inline void set_mask(uint64_t mask, uint32_t lanes, const std::source_location& where) {
  softnpu::kernel::Block* block = softnpu::kernel::current_block();
  if (!block->mask_counter_mode && mask > lanes) {
    softnpu::kernel::fail("the mask is more than the elements of a repeat", where);
  }
  const MaskWords words = block->mask_counter_mode ? MaskWords{{mask, 0}} : first_elements(mask);
  std::copy_n(words.words, 2, block->vector_mask);
}
// Makes the elements whose bits are set the core's mask: bits 0 to 63 in mask[0].
inline void set_mask(const uint64_t* mask, uint32_t, const std::source_location&) {
  std::copy_n(mask, 2, softnpu::kernel::current_block()->vector_mask);
}

// The core's mask as that of an instruction.
inline softnpu::kernel::RepeatMask core_mask() {
  const softnpu::kernel::Block& block = *softnpu::kernel::current_block();
  if (block.mask_counter_mode) return {{0, 0}, block.vector_mask[0]};
  return {{block.vector_mask[0], block.vector_mask[1]}, 0};
}

// The mask of an instruction with `lanes` elements in a repeat: `mask`, a number or a pointer to bits, which becomes
// the core's; with `sets_mask` false, the core's.
template <bool sets_mask, typename Mask>
softnpu::kernel::RepeatMask mask_of(const Mask& mask, uint32_t lanes, const std::source_location& where) {
  if (lanes > 128 && !softnpu::kernel::current_block()->mask_counter_mode) {
    softnpu::kernel::fail("a mask has 128 elements, and a repeat more of 1 byte: the form with a count takes them",
                          where);
  }
  if constexpr (sets_mask) set_mask(mask, lanes, where);
  return core_mask();
}
template <bool sets_mask, typename T, typename Mask>
softnpu::kernel::RepeatMask mask_for(const Mask& mask, const std::source_location& where) {
  return mask_of<sets_mask>(mask, softnpu::kernel::kRepeatBytes / sizeof(T), where);
}

// The repeats of an instruction from those of its call: the unit has 8 bits for them. Checked mode keeps the others,
// and reports them.
inline uint32_t repeats_of_call(uint32_t repeats) { return softnpu::kernel::is_checked ? repeats : repeats & 0xff; }

// `count` elements of as many repeats as they fill.
constexpr softnpu::kernel::RepeatMask all_of(uint64_t count) { return {{0, 0}, count}; }

}  // namespace inner

}  // namespace AscendC
