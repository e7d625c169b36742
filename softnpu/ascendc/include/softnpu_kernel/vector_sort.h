#pragma once
// Instructions that sort by value, as data. A record is 8 bytes: a value of float, or of half and two bytes of zero,
// and behind it an index of 4 bytes.

#include <cstdint>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

inline constexpr uint32_t kRecordBytes = 8;
inline constexpr uint32_t kSorted = 32;  // records of a repeat of Sort32

// The largest value first; NaN counts as the largest, and of equal values the first stays the first.
struct SortInstruction : Instruction {
  Memory destination;  // records
  Memory values;
  Memory indices;
  Memory work;       // no address: none
  uint32_t repeats;  // of 32 values
  uint32_t group;    // how many values are sorted with each other
  DataType type;
};
SOFTNPU_KERNEL_EXPORT void execute_sort(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_sort(const Instruction& instruction, Touches* touches);

// Merges up to four sorted queues of records. Of equal values that of the first queue comes first.
struct MergeInstruction : Instruction {
  Memory destination;
  Memory queues[4];
  uint16_t lengths[4];  // in records
  uint32_t valid;       // bit i: queue i takes part
  uint32_t repeats;     // each takes what is behind the four queues of the one before
  bool stops;           // when one queue is empty
  DataType type;
};
SOFTNPU_KERNEL_EXPORT void execute_merge(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_merge(const Instruction& instruction, Touches* touches);
// How many records the block's last merge took of each queue: four numbers.
SOFTNPU_KERNEL_EXPORT uint16_t* merged_counts();

// Values and indices of records.
struct ExtractInstruction : Instruction {
  Memory values;
  Memory indices;
  Memory source;
  uint32_t repeats;  // of 32 records
  DataType type;
};
SOFTNPU_KERNEL_EXPORT void execute_extract(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_extract(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
