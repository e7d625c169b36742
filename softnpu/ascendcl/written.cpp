#include "ascendcl/written.h"

#include <algorithm>

#include "runtime/memory/memory_blocks.h"

namespace softnpu {

Device* clip(const void* address, size_t* bytes) {
  Device* device = Process::get().device_of(address);
  Allocation allocation;
  if (device == nullptr || !device->find(address, &allocation)) return nullptr;
  *bytes = std::min(*bytes, allocation.size - std::min(allocation.offset_of(address), allocation.size));
  return device;
}

void raise_epoch(const void* address, size_t bytes) {
  Device* device = clip(address, &bytes);
  if (device == nullptr) return;
  device->write_epochs().bump(address, bytes);
  MemoryBlocks::get().written(address, bytes);
}

void raise_epochs(const softnpuRange* ranges, size_t count) {
  for (size_t i = 0; i < count; ++i) raise_epoch(ranges[i].address, ranges[i].bytes);
}

std::vector<softnpuRange> merge_ranges(std::vector<softnpuRange> ranges) {
  struct Clipped {
    const char* begin;
    const char* end;
    const void* allocation;
  };
  std::vector<Clipped> clipped;
  for (const auto& [address, bytes] : ranges) {
    Device* device = Process::get().device_of(address);
    Allocation allocation;
    if (device == nullptr || bytes == 0 || !device->find(address, &allocation)) continue;
    const auto* begin = static_cast<const char*>(address);
    const size_t rest = allocation.size - std::min(allocation.offset_of(address), allocation.size);
    clipped.push_back({begin, begin + std::min(bytes, rest), allocation.base});
  }
  std::ranges::sort(clipped, {}, &Clipped::begin);
  ranges.clear();
  const void* last_allocation = nullptr;
  for (const Clipped& next : clipped) {
    const auto* first = ranges.empty() ? nullptr : static_cast<const char*>(ranges.back().address);
    if (next.allocation == last_allocation && next.begin <= first + ranges.back().bytes) {
      ranges.back().bytes = std::max(ranges.back().bytes, static_cast<size_t>(next.end - first));
    } else {
      ranges.push_back({next.begin, static_cast<size_t>(next.end - next.begin)});
      last_allocation = next.allocation;
    }
  }
  return ranges;
}

}  // namespace softnpu
