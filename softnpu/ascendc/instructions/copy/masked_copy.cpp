// Copies of masked elements within local memory.

#include <cstring>

#include "ascendc/instructions/vector/overlap.h"
#include "softnpu_kernel/copy.h"

namespace softnpu::kernel {
namespace {

const MaskedCopyInstruction& of(const Instruction& instruction) {
  return static_cast<const MaskedCopyInstruction&>(instruction);
}

// Calls run(to, from, bytes) for each run of masked elements within one block.
template <typename Run>
void for_runs(const MaskedCopyInstruction& copy, const Run& run) {
  auto* to = static_cast<uint8_t*>(copy.destination.address);
  const auto* from = static_cast<const uint8_t*>(copy.source.address);
  const RepeatLayout written = whole_repeats(copy.element_bytes, copy.destination_stride, copy.destination_repeat);
  const RepeatLayout read = whole_repeats(copy.element_bytes, copy.source_stride, copy.source_repeat);
  const uint64_t repeats = repeats_of(copy.mask, copy.repeats, written.of_repeat);
  for (uint64_t r = 0; r < repeats; ++r) {
    for_masked_runs(copy.mask, r, written, [&](uint32_t first, uint32_t count, uint64_t offset) {
      run(to + offset, from + offset_of(read, r, first), uint64_t{count} * copy.element_bytes);
    });
  }
}

}  // namespace

void execute_masked_copy(const Instruction& instruction) {
  for_runs(of(instruction), [](uint8_t* to, const uint8_t* from, uint64_t bytes) { std::memmove(to, from, bytes); });
}

void touch_masked_copy(const Instruction& instruction, Touches* touches) {
  const MaskedCopyInstruction& copy = of(instruction);
  if (!is_aligned(copy.source, kBlockBytes)) touches->misuse("Copy: the source's address is no multiple of 32");
  if (!is_aligned(copy.destination, kBlockBytes))
    touches->misuse("Copy: the destination's address is no multiple of 32");
  if (const char* wrong = misuse_of_mask(copy.mask, copy.element_bytes)) touches->misuse(wrong);
  if (!touch_repeats(copy.mask, copy.repeats, touches)) return;
  touches->operand("dst", copy.destination);
  touches->operand("src", copy.source);
  for_runs(copy, [touches](uint8_t* to, const uint8_t* from, uint64_t bytes) {
    touches->read(from, bytes);
    touches->write(to, bytes);
  });
  const bool is_same = copy.destination.address == copy.source.address &&
                       copy.destination_stride == copy.source_stride && copy.destination_repeat == copy.source_repeat;
  if (is_same) return;
  const auto footprint = [&copy](const Memory& memory, uint32_t stride, uint32_t repeat) {
    return footprint_of(copy.mask, copy.repeats, whole_repeats(copy.element_bytes, stride, repeat), memory);
  };
  const std::string wrong =
      misuse_of_overlap(footprint(copy.destination, copy.destination_stride, copy.destination_repeat),
                        footprint(copy.source, copy.source_stride, copy.source_repeat), "src");
  if (!wrong.empty()) touches->misuse(wrong.c_str());
}

}  // namespace softnpu::kernel
