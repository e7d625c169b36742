#include "ascendc/instructions/vector/elementwise.h"

#include <string>

#include "ascendc/instructions/vector/overlap.h"

namespace softnpu::kernel {
namespace {

template <typename Predicate>
bool all_operands(const VectorInstruction& v, const Predicate& predicate) {
  bool all = predicate(v.destination);
  for (int i = 0; i < v.sources; ++i) all = all && predicate(v.source[i]);
  return all;
}

}  // namespace

bool has_whole_repeats(const VectorInstruction& v) {
  return all_operands(v, [](const VectorOperand& o) { return o.block_stride == 1; });
}

uint64_t contiguous_elements(const VectorInstruction& v) {
  if (!has_whole_repeats(v)) return 0;
  const uint32_t lanes = lanes_of(v);
  const uint64_t repeats = repeats_of(v.mask, v.repeats, lanes);
  const uint32_t first = prefix_of(v.mask, 0, lanes);
  if (repeats == 1) return first;
  const bool follows = all_operands(
      v, [lanes](const VectorOperand& o) { return o.repeat_stride * kBlockBytes == lanes * bytes_of(o.type); });
  if (!follows || first != lanes) return 0;
  return v.mask.elements > 0 ? v.mask.elements : repeats * lanes;
}

void touch_elements(const VectorInstruction& v, const VectorOperand& operand, bool writes, Touches* touches) {
  const auto touch = [&](uint64_t offset, uint64_t elements) {
    char* address = static_cast<char*>(operand.address) + offset;
    const uint64_t bytes = elements * bytes_of(operand.type);
    if (writes) {
      touches->write(address, bytes);
    } else {
      touches->read(address, bytes);
    }
  };
  if (const uint64_t elements = contiguous_elements(v); elements > 0) return touch(0, elements);
  const RepeatLayout layout = layout_of(v, operand);
  const uint64_t repeats = repeats_of(v.mask, v.repeats, layout.of_repeat);
  for (uint64_t r = 0; r < repeats; ++r) {
    for_masked_runs(v.mask, r, layout, [&](uint32_t, uint32_t count, uint64_t offset) { touch(offset, count); });
  }
}

void touch_overlap(const VectorInstruction& v, const VectorOperand& destination, const char* name,
                   const VectorOperand& source, Touches* touches) {
  const auto first = [](const VectorOperand& o) { return reinterpret_cast<uint64_t>(o.address); };
  const bool is_same = first(destination) == first(source) && bytes_of(destination.type) == bytes_of(source.type) &&
                       destination.block_stride == source.block_stride &&
                       destination.repeat_stride == source.repeat_stride;
  const uint64_t repeats = repeats_of(v.mask, v.repeats, lanes_of(v));
  const auto end = [repeats](const VectorOperand& o) {
    return (uint64_t{o.block_stride} * 7 + 1 + (repeats - 1) * o.repeat_stride) * kBlockBytes;
  };
  if (is_same || repeats == 0 || first(destination) >= first(source) + end(source) ||
      first(source) >= first(destination) + end(destination))
    return;
  const auto footprint = [&v](const VectorOperand& o) {
    return footprint_of(v.mask, v.repeats, layout_of(v, o), {o.address, o.tensor_bytes});
  };
  const std::string wrong = misuse_of_overlap(footprint(destination), footprint(source), name);
  if (!wrong.empty()) touches->misuse(wrong.c_str());
}

void touch_operand(const char* name, const VectorOperand& operand, Touches* touches) {
  const Memory memory = {operand.address, operand.tensor_bytes};
  touches->operand(name, memory);
  const auto misuse = [&](const char* what) { touches->misuse((std::string(name) + what).c_str()); };
  if (!is_aligned(memory, kBlockBytes)) misuse(" does not begin at a multiple of 32 bytes");
  if (operand.block_stride > 65535) misuse(": the stride between blocks is more than 65535");
  if (operand.repeat_stride > 255) misuse(": the stride between repeats is more than 255 blocks");
}

bool touch_mask(const VectorInstruction& v, Touches* touches) {
  if (const char* wrong = misuse_of_mask(v.mask, kRepeatBytes / lanes_of(v))) touches->misuse(wrong);
  return touch_repeats(v.mask, v.repeats, touches);
}

}  // namespace softnpu::kernel
