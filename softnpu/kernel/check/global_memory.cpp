#include "kernel/check/global_memory.h"

#include "acl/acl.h"
#include "softnpu/softnpu.h"

namespace softnpu::kernel::check {
namespace {

// So far from an allocation an address is said to be behind it.
constexpr uint64_t kNear = 4096;

}  // namespace

GlobalMemory::GlobalMemory() {
  uint32_t count = 0;
  if (aclrtGetDeviceCount(&count) != ACL_SUCCESS) return;
  for (uint32_t device = 0; device < count; ++device) {
    void* base = nullptr;
    size_t size = 0;
    ptrdiff_t offset = 0;
    if (softnpuDeviceRange(static_cast<int32_t>(device), &base, &size) != ACL_SUCCESS) continue;
    if (softnpuKernelOffset(static_cast<int32_t>(device), &offset) != ACL_SUCCESS) continue;
    const auto begin = reinterpret_cast<uint64_t>(base);
    devices_.push_back({begin, begin + size, static_cast<uint64_t>(offset)});
  }
}

bool GlobalMemory::is_valid(uint64_t address, uint64_t bytes) const {
  void* kernel = nullptr;
  for (const Device& device : devices_) {
    const uint64_t own = address - device.offset;
    if (own < device.begin || own >= device.end) continue;
    return softnpuKernelAddress(reinterpret_cast<const void*>(own), bytes, &kernel) == ACL_SUCCESS;
  }
  return softnpuKernelAddress(reinterpret_cast<const void*>(address), bytes, &kernel) == ACL_SUCCESS;
}

uint64_t GlobalMemory::valid_bytes(uint64_t address, uint64_t bytes) {
  if (address >= known_begin_ && address + bytes <= known_end_) return bytes;
  if (is_valid(address, bytes)) {
    // Grows the known range where it can, so that the next tile is found at once.
    known_begin_ = address;
    known_end_ = address + bytes;
    const uint64_t more = bytes < (1 << 20) ? 16 * bytes : bytes;
    if (is_valid(address, bytes + more)) known_end_ += more;
    return bytes;
  }
  return most([&](uint64_t first) { return is_valid(address, first); });
}

template <typename Holds>
uint64_t GlobalMemory::most(const Holds& holds) {
  constexpr uint64_t kLargest = uint64_t{1} << 46;
  uint64_t high = 1;
  while (high < kLargest && holds(high)) high *= 2;
  uint64_t low = high / 2;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

std::string GlobalMemory::text(uint64_t address) const {
  const uint64_t behind = most([&](uint64_t bytes) { return is_valid(address, bytes); });
  if (behind == 0) {
    const uint64_t back = most([&](uint64_t bytes) { return bytes < kNear && !is_valid(address - bytes, 1); }) + 1;
    if (back >= kNear) return "global memory that is not allocated";
    const uint64_t end = address - back + 1;
    const uint64_t size = most([&](uint64_t bytes) { return is_valid(end - bytes, bytes); });
    return std::to_string(address - end) + " bytes behind an allocation of " + std::to_string(size) +
           " bytes in global memory";
  }
  const uint64_t before = most([&](uint64_t bytes) { return is_valid(address - bytes, bytes); });
  return "byte " + std::to_string(before) + " of an allocation of " + std::to_string(before + behind) +
         " bytes in global memory";
}

}  // namespace softnpu::kernel::check
