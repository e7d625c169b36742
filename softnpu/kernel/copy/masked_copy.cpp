// Copies of masked elements within local memory.

#include <cstring>

#include "softnpu_kernel/copy.h"

namespace softnpu::kernel {
namespace {

constexpr uint32_t kRepeatBytes = 256;

const MaskedCopyInstruction& of(const Instruction& instruction) {
  return static_cast<const MaskedCopyInstruction&>(instruction);
}

// Calls run(to, from, bytes) for each run of masked elements within one block.
template <typename Run>
void for_runs(const MaskedCopyInstruction& copy, const Run& run) {
  auto* to = static_cast<uint8_t*>(copy.destination.address);
  const auto* from = static_cast<const uint8_t*>(copy.source.address);
  const uint32_t of_repeat = kRepeatBytes / copy.element_bytes;
  const uint32_t of_block = kBlockBytes / copy.element_bytes;
  const bool counts = copy.elements > 0;
  const uint64_t repeats = counts ? (copy.elements + of_repeat - 1) / of_repeat : copy.repeats;
  for (uint64_t r = 0; r < repeats; ++r) {
    const auto is_on = [&](uint32_t i) {
      return counts ? r * of_repeat + i < copy.elements : ((copy.mask[i / 64] >> (i % 64)) & 1) != 0;
    };
    for (uint32_t i = 0; i < of_repeat;) {
      if (!is_on(i)) {
        ++i;
        continue;
      }
      const uint32_t block = i / of_block;
      const uint32_t first = i % of_block;
      uint32_t end = i;
      while (end < (block + 1) * of_block && is_on(end)) ++end;
      const uint64_t skipped = uint64_t{first} * copy.element_bytes;
      run(to + (r * copy.destination_repeat + uint64_t{block} * copy.destination_stride) * kBlockBytes + skipped,
          from + (r * copy.source_repeat + uint64_t{block} * copy.source_stride) * kBlockBytes + skipped,
          uint64_t{end - i} * copy.element_bytes);
      i = end;
    }
  }
}

}  // namespace

void execute_masked_copy(const Instruction& instruction) {
  for_runs(of(instruction), [](uint8_t* to, const uint8_t* from, uint64_t bytes) { std::memmove(to, from, bytes); });
}

void touch_masked_copy(const Instruction& instruction, Touches* touches) {
  const MaskedCopyInstruction& copy = of(instruction);
  const auto is_aligned = [](const Memory& memory) {
    return reinterpret_cast<uintptr_t>(memory.address) % kBlockBytes == 0;
  };
  if (!is_aligned(copy.source)) touches->misuse("Copy: the source's address is no multiple of 32");
  if (!is_aligned(copy.destination)) touches->misuse("Copy: the destination's address is no multiple of 32");
  if (copy.elements == 0 && copy.mask[0] == 0 && copy.mask[1] == 0) touches->misuse("Copy: the mask is empty");
  if (copy.elements == 0 && copy.element_bytes == 4 && copy.mask[1] != 0 && ~copy.mask[1] != 0)
    touches->misuse("Copy: the mask has bits for more than 64 elements of 4 bytes");
  if (copy.elements == 0 && copy.repeats == 0) touches->misuse("Copy: the number of repeats is 0");
  touches->operand("dst", copy.destination);
  touches->operand("src", copy.source);
  for_runs(copy, [touches](uint8_t* to, const uint8_t* from, uint64_t bytes) {
    touches->read(from, bytes);
    touches->write(to, bytes);
  });
}

}  // namespace softnpu::kernel
