// GatherMask.

#include <cstring>

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector_gather.h"

namespace softnpu::kernel {
namespace {

const GatherMaskInstruction& of(const Instruction& instruction) {
  return static_cast<const GatherMaskInstruction&>(instruction);
}

// What a fixed pattern chooses from elements side by side: every `step`th from `first` on.
struct Steps {
  explicit Steps(uint32_t fixed)
      : step(fixed <= 2   ? 2
             : fixed <= 6 ? 4
                          : 1),
        first(fixed <= 2   ? fixed - 1
              : fixed <= 6 ? fixed - 3
                           : 0) {}
  uint64_t chosen_of(uint64_t count) const { return count > first ? (count - first - 1) / step + 1 : 0; }
  uint64_t step;
  uint64_t first;
};

// Calls take(address) for each chosen element, in order.
template <typename Take>
void for_chosen(const GatherMaskInstruction& gather, const Take& take) {
  const auto* from = static_cast<const char*>(gather.source.address);
  const auto* bits = static_cast<const uint8_t*>(gather.pattern.address);
  const uint32_t of_block = kBlockBytes / gather.element_bytes;
  const Steps steps(gather.fixed);
  for (uint64_t r = 0; r < gather.repeats; ++r) {
    for (uint64_t i = 0; i < gather.elements; ++i) {
      const uint64_t bit = r * gather.pattern_repeat * kBlockBytes * 8 + i;
      if (bits != nullptr ? ((bits[bit / 8] >> (bit % 8)) & 1) == 0 : (i % steps.step != steps.first)) continue;
      take(from + (r * gather.source_repeat + i / of_block * gather.source_stride) * kBlockBytes +
           i % of_block * gather.element_bytes);
    }
  }
}

// In order: `to` may be `from`.
template <typename T>
void take_steps(T* to, const T* from, uint64_t chosen, const Steps& steps) {
  from += steps.first;
  if (steps.step == 2) {
    for (uint64_t i = 0; i < chosen; ++i) to[i] = from[2 * i];
  } else {
    for (uint64_t i = 0; i < chosen; ++i) to[i] = from[steps.step * i];
  }
}

// For a fixed pattern and repeats without gaps between their blocks.
template <typename T>
void gather_fixed(const GatherMaskInstruction& gather) {
  auto* to = static_cast<T*>(gather.destination.address);
  const auto* from = static_cast<const T*>(gather.source.address);
  const Steps steps(gather.fixed);
  const uint64_t chosen = steps.chosen_of(gather.elements);
  for (uint64_t r = 0; r < gather.repeats; ++r)
    take_steps(to + r * chosen, from + r * gather.source_repeat * (kBlockBytes / sizeof(T)), chosen, steps);
}

}  // namespace

uint64_t gathered_by(const GatherMaskInstruction& gather) {
  return Steps(gather.fixed).chosen_of(gather.elements) * gather.repeats;
}

void execute_gather_mask(const Instruction& instruction) {
  const GatherMaskInstruction& gather = of(instruction);
  if (gather.pattern.address == nullptr && gather.source_stride == 1)
    return gather.element_bytes == 2 ? gather_fixed<uint16_t>(gather) : gather_fixed<uint32_t>(gather);
  auto* to = static_cast<char*>(gather.destination.address);
  uint64_t count = 0;
  for_chosen(gather, [&](const char* from) {
    if (gather.element_bytes == 2)
      std::memmove(to + 2 * count, from, 2);
    else
      std::memmove(to + 4 * count, from, 4);
    ++count;
  });
  if (gather.gathered != nullptr) *gather.gathered = count;
}

void touch_gather_mask(const Instruction& instruction, Touches* touches) {
  const GatherMaskInstruction& gather = of(instruction);
  if (!is_aligned(gather.source, kBlockBytes) || !is_aligned(gather.destination, kBlockBytes) ||
      !is_aligned(gather.pattern, kBlockBytes))
    touches->misuse("GatherMask: an operand's address is no multiple of 32");
  const bool is_fixed = gather.pattern.address == nullptr;
  if (is_fixed && (gather.fixed < 1 || gather.fixed > 7)) touches->misuse("GatherMask: the pattern is not 1 to 7");
  if (gather.elements == 0) touches->misuse("GatherMask: the mask is 0");
  uint64_t count = 0;
  // The unit reads all elements of a repeat, chosen or not.
  const auto* from = static_cast<const char*>(gather.source.address);
  const auto* bits = static_cast<const char*>(gather.pattern.address);
  const uint32_t of_block = kBlockBytes / gather.element_bytes;
  for (uint64_t r = 0; r < gather.repeats; ++r) {
    if (!is_fixed) touches->read(bits + r * gather.pattern_repeat * kBlockBytes, (gather.elements + 7) / 8);
    for (uint64_t i = 0; i < gather.elements; i += of_block)
      touches->read(from + (r * gather.source_repeat + i / of_block * gather.source_stride) * kBlockBytes,
                    std::min<uint64_t>(of_block, gather.elements - i) * gather.element_bytes);
  }
  for_chosen(gather, [&](const char*) { ++count; });
  if (count > 0) touches->write(gather.destination.address, count * gather.element_bytes);
}

}  // namespace softnpu::kernel
