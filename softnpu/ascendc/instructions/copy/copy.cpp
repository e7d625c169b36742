// Copies between global and local memory.

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "ascendc/instructions/copy/atomic.h"
#include "ascendc/instructions/copy/move.h"
#include "simd/non_temporal.h"
#include "softnpu_kernel/copy.h"

namespace softnpu::kernel {
namespace {

const CopyInstruction& of(const Instruction& instruction) { return static_cast<const CopyInstruction&>(instruction); }

// `bytes` bytes of elements of `element_bytes` bytes at `element`.
void fill(uint8_t* to, uint64_t bytes, const void* element, uint32_t element_bytes) {
  for (uint64_t i = 0; i < bytes; i += element_bytes)
    std::memcpy(to + i, element, std::min<uint64_t>(element_bytes, bytes - i));
}

void pad(const CopyInstruction& copy, uint8_t* to, const uint8_t* from) {
  const bool has_value = copy.padding == CopyInstruction::Padding::kValue;
  const uint8_t first[8] = {};
  // Bytes that the kernel does not choose repeat the burst's first element.
  const void* other = copy.burst_bytes >= copy.element_bytes ? static_cast<const void*>(from) : first;
  const void* chosen = has_value ? static_cast<const void*>(&copy.value) : other;
  fill(to, copy.left_bytes, chosen, copy.element_bytes);
  uint8_t* behind = to + copy.left_bytes + copy.burst_bytes;
  fill(behind, copy.right_bytes, chosen, copy.element_bytes);
  fill(behind + copy.right_bytes, copy.fill_bytes, other, copy.element_bytes);
}

// Whether results leave the caches before they are read.
bool is_non_temporal(const CopyInstruction& copy) {
  constexpr uint32_t kMinBurst = 2048;
  return copy.buffer_bytes >= uint64_t{kNonTemporalBytes} && copy.burst_bytes >= kMinBurst &&
         copy.atomic.operation == AtomicOperation::kNone && copy.padding == CopyInstruction::Padding::kNone;
}

// Behind what this thread's kernel read last from global memory: what it is likely to read next.
thread_local const uint8_t* next_read = nullptr;

// Fetches what is read next meanwhile: such stores leave the memory's other direction idle.
void copy_non_temporal(const CopyInstruction& copy) {
  static const NonTemporalCopy copy_bytes = non_temporal_copy();
  auto* to = static_cast<uint8_t*>(copy.destination.address);
  const auto* from = static_cast<const uint8_t*>(copy.source.address);
  const uint8_t* ahead = next_read;
  for (uint32_t i = 0; i < copy.bursts; ++i) {
    copy_bytes(to, from, copy.burst_bytes, ahead);
    if (ahead != nullptr) ahead += copy.burst_bytes;
    to += copy.destination_step;
    from += copy.source_step;
  }
  fence_non_temporal_stores();  // other blocks may read a flag that this one writes next
}

void move_small(void* to, const void* from, size_t bytes) { std::memmove(to, from, bytes); }

// What copies a burst. Only bursts within local memory can overlap.
MoveBytes mover_of(const CopyInstruction& copy) {
  constexpr uint32_t kMinBurst = 512;
  static const MoveBytes from_global = move_bytes_ahead();
  static const MoveBytes to_global = move_bytes();
  if (copy.burst_bytes < kMinBurst) return &move_small;
  if (copy.is_global_source) return from_global;
  return copy.is_global_destination ? to_global : &move_small;
}

// The hardware's rules for a local address and a number of bursts.
void check(const CopyInstruction& copy, Touches* touches) {
  const auto is_aligned = [](const Memory& memory) {
    return reinterpret_cast<uintptr_t>(memory.address) % kBlockBytes == 0;
  };
  const std::string name = std::string(copy.name) + ": ";
  const auto misuse = [&](const std::string& sentence) { touches->misuse((name + sentence).c_str()); };
  if (!copy.is_global_source && !is_aligned(copy.source))
    misuse("the source begins at an address of local memory that is no multiple of 32");
  if (!copy.is_global_destination && !is_aligned(copy.destination))
    misuse("the destination begins at an address of local memory that is no multiple of 32");
  if (copy.count > 0 && copy.count * copy.element_bytes % kBlockBytes != 0)
    misuse("a count of " + std::to_string(copy.count) + " elements of " + std::to_string(copy.element_bytes) +
           " bytes is no multiple of 32 bytes: the rest is not copied; DataCopyPad copies it");
  if (copy.bursts > copy.most_bursts)
    misuse("blockCount is " + std::to_string(copy.bursts) + ", at most " + std::to_string(copy.most_bursts));
  if (copy.burst_bytes > copy.most_burst_bytes)
    misuse("a burst of " + std::to_string(copy.burst_bytes) + " bytes, more than " +
           std::to_string(copy.most_burst_bytes));
  if (copy.left_bytes > kBlockBytes || copy.right_bytes > kBlockBytes)
    misuse("more than 32 bytes of padding on one side");
}

// Bursts that follow each other on both sides are one, but within local memory, where a burst may read what the one
// before has written.
CopyInstruction merged(const CopyInstruction& copy) {
  CopyInstruction result = copy;
  const uint64_t bytes = uint64_t{copy.bursts} * copy.burst_bytes;
  const bool is_dense = copy.is_global_source != copy.is_global_destination && copy.source_step == copy.burst_bytes &&
                        copy.destination_step == copy.burst_bytes &&
                        copy.left_bytes + copy.right_bytes + copy.fill_bytes == 0;
  if (copy.bursts <= 1 || !is_dense || bytes > std::numeric_limits<uint32_t>::max()) return result;
  result.bursts = 1;
  result.burst_bytes = static_cast<uint32_t>(bytes);
  return result;
}

}  // namespace

void execute_copy(const Instruction& instruction) {
  const CopyInstruction copy = merged(of(instruction));
  if (copy.burst_bytes == 0) return;
  if (is_non_temporal(copy)) return copy_non_temporal(copy);
  const auto move = mover_of(copy);
  auto* to = static_cast<uint8_t*>(copy.destination.address);
  const auto* from = static_cast<const uint8_t*>(copy.source.address);
  for (uint32_t i = 0; i < copy.bursts; ++i) {
    if (copy.atomic.operation != AtomicOperation::kNone) {
      combine(copy.atomic, to, from, copy.burst_bytes);
    } else {
      move(to + copy.left_bytes, from, copy.burst_bytes);
      if (copy.padding != CopyInstruction::Padding::kNone) pad(copy, to, from);
    }
    to += copy.destination_step;
    from += copy.source_step;
  }
  if (copy.is_global_source) next_read = from;
}

void touch_copy(const Instruction& instruction, Touches* touches) {
  const CopyInstruction& copy = of(instruction);
  check(copy, touches);
  touches->operand("dst", copy.destination);
  touches->operand("src", copy.source);
  auto* to = static_cast<uint8_t*>(copy.destination.address);
  const auto* from = static_cast<const uint8_t*>(copy.source.address);
  const uint64_t written = uint64_t{copy.left_bytes} + copy.burst_bytes + copy.right_bytes + copy.fill_bytes;
  for (uint32_t i = 0; i < copy.bursts && copy.burst_bytes > 0; ++i) {
    touches->read(from, copy.burst_bytes);
    if (copy.atomic.operation != AtomicOperation::kNone)
      touches->combine(to, written);
    else
      touches->write(to, written);
    to += copy.destination_step;
    from += copy.source_step;
  }
}

}  // namespace softnpu::kernel
