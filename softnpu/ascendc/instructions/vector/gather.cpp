// Gather.

#include "softnpu_kernel/vector_gather.h"

#include <cstring>

#include "ascendc/instructions/vector/repeats.h"

namespace softnpu::kernel {
namespace {

const GatherInstruction& of(const Instruction& instruction) {
  return static_cast<const GatherInstruction&>(instruction);
}

// Calls move(address on the dense side, address of the offset) for each masked element.
template <typename Move>
void for_elements(const GatherInstruction& gather, const Move& move) {
  auto* dense = static_cast<char*>(gather.dense.address);
  const auto* offsets = static_cast<const char*>(gather.offsets.address);
  const uint32_t of_repeat = kRepeatBytes / gather.element_bytes;
  const uint64_t repeats = repeats_of(gather.mask, gather.repeats, of_repeat);
  for (uint64_t r = 0; r < repeats; ++r) {
    for_masked_runs(gather.mask, r, whole_repeats(gather.element_bytes, 1, gather.dense_repeat),
                    [&](uint32_t first, uint32_t count, uint64_t at) {
                      for (uint32_t i = 0; i < count; ++i)
                        move(dense + at + uint64_t{i} * gather.element_bytes,
                             offsets + (r * of_repeat + first + i) * sizeof(uint32_t));
                    });
  }
}

char* location_of(const GatherInstruction& gather, const char* offset) {
  uint32_t bytes;
  std::memcpy(&bytes, offset, sizeof(bytes));
  return static_cast<char*>(gather.spread.address) + (uint64_t{gather.base} + bytes);
}

template <typename T>
void move_all(const GatherInstruction& gather) {
  if (gather.mask.elements > 0 && gather.dense_repeat * kBlockBytes == kRepeatBytes) {  // one piece of memory
    auto* dense = static_cast<T*>(gather.dense.address);
    const auto* offsets = static_cast<const uint32_t*>(gather.offsets.address);
    const auto* spread = static_cast<const char*>(gather.spread.address) + gather.base;
    for (uint64_t i = 0; i < gather.mask.elements; ++i) std::memcpy(dense + i, spread + offsets[i], sizeof(T));
    return;
  }
  for_elements(gather,
               [&](char* dense, const char* offset) { std::memcpy(dense, location_of(gather, offset), sizeof(T)); });
}

}  // namespace

void execute_gather(const Instruction& instruction) {
  const GatherInstruction& gather = of(instruction);
  if (gather.element_bytes == 2)
    move_all<uint16_t>(gather);
  else
    move_all<uint32_t>(gather);
}

void touch_gather(const Instruction& instruction, Touches* touches) {
  const GatherInstruction& gather = of(instruction);
  if (!is_aligned(gather.dense, kBlockBytes) || !is_aligned(gather.spread, kBlockBytes) ||
      !is_aligned(gather.offsets, kBlockBytes))
    touches->misuse("gather: an operand's address is no multiple of 32");
  if (const char* wrong = misuse_of_mask(gather.mask, gather.element_bytes)) touches->misuse(wrong);
  if (!touch_repeats(gather.mask, gather.repeats, touches)) return;
  bool is_odd = false;
  for_elements(gather, [&](char* dense, const char* offset) {
    touches->read(offset, sizeof(uint32_t));
    char* location = location_of(gather, offset);
    is_odd =
        is_odd || static_cast<uint64_t>(location - static_cast<char*>(gather.spread.address)) % gather.element_bytes;
    touches->read(location, gather.element_bytes);
    touches->write(dense, gather.element_bytes);
  });
  if (is_odd) touches->misuse("gather: an offset in bytes is no multiple of the element's size");
}

}  // namespace softnpu::kernel
