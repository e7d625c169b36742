// What reductions read, write and refuse.

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector_reduce.h"

namespace softnpu::kernel {
namespace {

using Span = ReduceInstruction::Span;
using Result = ReduceInstruction::Result;

uint32_t values_of(Result result) { return result == Result::kValueIndex ? 2 : 1; }

void touch_misuse(const ReduceInstruction& reduce, Touches* touches) {
  const uint32_t bytes = bytes_of(reduce.type);
  if (!is_aligned(reduce.source, kBlockBytes)) touches->misuse("reduction: the source's address is no multiple of 32");
  const uint64_t to = reduce.span == Span::kBlock  ? uint64_t{8} * bytes
                      : reduce.span == Span::kPair ? kBlockBytes
                                                   : uint64_t{bytes} * values_of(reduce.result);
  if (!is_aligned(reduce.destination, to))
    touches->misuse("reduction: the destination's address is no multiple of what a result takes");
  if (reduce.work.address != nullptr && !is_aligned(reduce.work, kBlockBytes))
    touches->misuse("reduction: the work tensor's address is no multiple of 32");
  if (reduce.span != Span::kRow) {
    if (const char* wrong = misuse_of_mask(reduce.mask, bytes)) touches->misuse(wrong);
  }
  if (reduce.source_stride > 65535 || reduce.source_repeat > 65535 || reduce.destination_repeat > 65535)
    touches->misuse("reduction: a stride above 65535");
  if (reduce.span == Span::kRow && reduce.row_step % kBlockBytes != 0)
    touches->misuse("Sum: inner elements are no multiple of 32 bytes");
}

void touch_groups(const ReduceInstruction& reduce, uint64_t repeat, uint32_t group, Touches* touches) {
  const uint32_t bytes = bytes_of(reduce.type);
  const uint32_t elements = kRepeatBytes / bytes;
  const uint64_t step = uint64_t{reduce.destination_repeat} * (elements / group) * values_of(reduce.result);
  auto* to = static_cast<char*>(reduce.destination.address) + repeat * step * bytes;
  for (uint32_t g = 0; g < elements / group; ++g) {
    bool has = false;
    for (uint32_t i = 0; i < group; ++i) has = has || is_masked(reduce.mask, repeat, g * group + i, elements);
    if (has) touches->write(to + uint64_t{g} * bytes, uint64_t{values_of(reduce.result)} * bytes);
  }
}

}  // namespace

void touch_reduce(const Instruction& instruction, Touches* touches) {
  const auto& reduce = static_cast<const ReduceInstruction&>(instruction);
  touch_misuse(reduce, touches);
  if (reduce.most_repeats > 0 && !touch_repeats(reduce.mask, reduce.repeats, touches, reduce.most_repeats)) return;
  const uint32_t bytes = bytes_of(reduce.type);
  const uint32_t elements = kRepeatBytes / bytes;
  const auto* from = static_cast<const char*>(reduce.source.address);
  auto* to = static_cast<char*>(reduce.destination.address);
  if (reduce.span == Span::kRow) {
    for (uint32_t row = 0; row < reduce.repeats && reduce.row_elements > 0; ++row) {
      touches->read(from + row * reduce.row_step, reduce.row_elements * bytes);
      touches->write(to + uint64_t{row} * bytes, bytes);
    }
    return;
  }
  const uint64_t repeats = repeats_of(reduce.mask, reduce.repeats, elements);
  bool has_any = false;
  for (uint64_t r = 0; r < repeats; ++r) {
    for_masked_runs(reduce.mask, r, whole_repeats(bytes, reduce.source_stride, reduce.source_repeat),
                    [&](uint32_t, uint32_t count, uint64_t offset) {
                      has_any = true;
                      touches->read(from + offset, uint64_t{count} * bytes);
                    });
    if (reduce.span == Span::kRepeat) touch_groups(reduce, r, elements, touches);
    if (reduce.span == Span::kBlock) touch_groups(reduce, r, elements / 8, touches);
    if (reduce.span == Span::kPair) touch_groups(reduce, r, 2, touches);
  }
  if (reduce.span != Span::kAll || !has_any) return;
  // The device keeps each repeat's result there.
  if (reduce.work.address != nullptr) touches->write(reduce.work.address, repeats * values_of(reduce.result) * bytes);
  touches->write(to, uint64_t{values_of(reduce.result)} * bytes);
}

}  // namespace softnpu::kernel
