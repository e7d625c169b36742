// Brcb and BroadCast.

#include <cstring>

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector_gather.h"

namespace softnpu::kernel {
namespace {

using Kind = SpreadInstruction::Kind;

const SpreadInstruction& of(const Instruction& instruction) {
  return static_cast<const SpreadInstruction&>(instruction);
}

void fill(char* to, const char* element, uint64_t count, uint32_t bytes) {
  for (uint64_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, element, bytes);
}

char* block_of(const SpreadInstruction& spread, uint64_t repeat, uint64_t i) {
  return static_cast<char*>(spread.destination.address) +
         (repeat * spread.destination_repeat + i * spread.destination_stride) * kBlockBytes;
}

void spread_blocks(const SpreadInstruction& spread) {
  const uint32_t bytes = spread.element_bytes;
  for (uint64_t r = 0; r < spread.repeats; ++r) {
    char elements[8 * sizeof(uint32_t)];
    std::memcpy(elements, static_cast<const char*>(spread.source.address) + r * 8 * bytes, size_t{8} * bytes);
    for (uint64_t i = 0; i < 8; ++i) fill(block_of(spread, r, i), elements + i * bytes, kBlockBytes / bytes, bytes);
  }
}

void spread_shape(const SpreadInstruction& spread) {
  auto* to = static_cast<char*>(spread.destination.address);
  const auto* from = static_cast<const char*>(spread.source.address);
  const uint64_t row = spread.inner * spread.element_bytes;
  for (uint64_t o = 0; o < spread.outer; ++o) {
    if (spread.inner == 1) {
      fill(to + o * spread.copies * row, from + o * row, spread.copies, spread.element_bytes);
    } else {
      for (uint64_t k = 0; k < spread.copies; ++k)
        std::memmove(to + (o * spread.copies + k) * row, from + o * row, row);
    }
  }
}

}  // namespace

void execute_spread(const Instruction& instruction) {
  const SpreadInstruction& spread = of(instruction);
  switch (spread.kind) {
    case Kind::kBlocks: return spread_blocks(spread);
    case Kind::kShape: return spread_shape(spread);
  }
}

void touch_spread(const Instruction& instruction, Touches* touches) {
  const SpreadInstruction& spread = of(instruction);
  if (!is_aligned(spread.source, kBlockBytes) || !is_aligned(spread.destination, kBlockBytes))
    touches->misuse("an operand's address is no multiple of 32");
  switch (spread.kind) {
    case Kind::kBlocks:
      if (!touch_repeats({}, spread.repeats, touches)) return;
      if (spread.repeats > 0) touches->read(spread.source.address, uint64_t{spread.repeats} * 8 * spread.element_bytes);
      for (uint64_t r = 0; r < spread.repeats; ++r) {
        for (uint64_t i = 0; i < 8; ++i) touches->write(block_of(spread, r, i), kBlockBytes);
      }
      break;
    case Kind::kShape: {
      const uint64_t bytes = spread.outer * spread.inner * spread.element_bytes;
      if (bytes * spread.copies == 0) break;
      touches->read(spread.source.address, bytes);
      touches->write(spread.destination.address, bytes * spread.copies);
      break;
    }
  }
}

}  // namespace softnpu::kernel
