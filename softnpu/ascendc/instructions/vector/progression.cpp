// CreateVecIndex and ArithProgression.

#include <cstring>

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector_gather.h"

namespace softnpu::kernel {
namespace {

template <typename Run>
void for_runs(const ProgressionInstruction& progression, const Run& run) {
  const uint32_t bytes = bytes_of(progression.type);
  const uint32_t of_repeat = kRepeatBytes / bytes;
  const uint64_t repeats = repeats_of(progression.mask, progression.repeats, of_repeat);
  auto* to = static_cast<char*>(progression.destination.address);
  for (uint64_t r = 0; r < repeats; ++r) {
    for_masked_runs(progression.mask, r,
                    whole_repeats(bytes, progression.destination_stride, progression.destination_repeat),
                    [&](uint32_t first, uint32_t count, uint64_t at) { run(to + at, r * of_repeat + first, count); });
  }
}

template <typename T>
void fill(const ProgressionInstruction& progression) {
  for_runs(progression, [&](char* to, uint64_t index, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const double exact = progression.first + static_cast<double>(index + i) * progression.step;
      T value;
      if constexpr (std::is_integral_v<T>)
        value = static_cast<T>(static_cast<int64_t>(exact));  // wraps
      else
        value = static_cast<T>(exact);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  });
}

}  // namespace

void execute_progression(const Instruction& instruction) {
  const auto& progression = static_cast<const ProgressionInstruction&>(instruction);
  switch (progression.type) {
    case DataType::kHalf: return fill<half>(progression);
    case DataType::kFloat: return fill<float>(progression);
    case DataType::kInt16: return fill<int16_t>(progression);
    case DataType::kInt32: return fill<int32_t>(progression);
    default: fail("a progression of this element type is not there", progression.where);
  }
}

void touch_progression(const Instruction& instruction, Touches* touches) {
  const auto& progression = static_cast<const ProgressionInstruction&>(instruction);
  const uint32_t bytes = bytes_of(progression.type);
  if (!is_aligned(progression.destination, kBlockBytes))
    touches->misuse("progression: the destination's address is no multiple of 32");
  if (const char* wrong = misuse_of_mask(progression.mask, bytes)) touches->misuse(wrong);
  if (!touch_repeats(progression.mask, progression.repeats, touches)) return;
  for_runs(progression, [&](char* to, uint64_t, uint32_t count) { touches->write(to, uint64_t{count} * bytes); });
}

}  // namespace softnpu::kernel
