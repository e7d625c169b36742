#pragma once
// Write epochs of what a launch says that it writes.

#include <cstddef>
#include <vector>

#include "runtime/process.h"
#include "softnpu/launch.h"

namespace softnpu {

// The device of `address`. Clips `bytes` to the end of the allocation. Null if `address` is in no allocation.
Device* clip(const void* address, size_t* bytes);

// Raises the write epochs of a range, if it begins in an allocation.
void raise_epoch(const void* address, size_t bytes);

// The same for each of `count` ranges.
void raise_epochs(const softnpuRange* ranges, size_t count);

// Few ranges that cover the same memory: each is clipped to its allocation, and those that touch there become one.
std::vector<softnpuRange> merge_ranges(std::vector<softnpuRange> ranges);

}  // namespace softnpu
