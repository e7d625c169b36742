#include "ascendc/sanitizer/launch_memory.h"

#include <algorithm>
#include <utility>

#include "acl/acl.h"
#include "softnpu/softnpu.h"
#include "softnpu/written_memory.h"

namespace softnpu::kernel::check {
namespace {

// Lists of pointers are looked for in this much of each tensor.
constexpr uint64_t kMaxFollowed = uint64_t{1} << 20;

uint64_t address_of(const softnpuBlock& block) { return reinterpret_cast<uint64_t>(block.address); }

// Other blocks of the launch may write there meanwhile.
__attribute__((no_sanitize("thread"))) uint64_t word_at(const unsigned char* memory) {
  uint64_t word = 0;
  for (size_t i = 0; i < sizeof word; ++i) word |= uint64_t{memory[i]} << (8 * i);
  return word;
}

}  // namespace

LaunchMemory::LaunchMemory(const void* arguments, size_t bytes)
    : arguments_(static_cast<const unsigned char*>(arguments)), argument_bytes_(bytes), blocks_(softnpuTakeBlocks()) {
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

const LaunchMemory::Device* LaunchMemory::device_of(uint64_t address) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const Device& d) { return address >= d.begin && address < d.end; });
  return found == devices_.end() ? nullptr : &*found;
}

uint64_t LaunchMemory::device_address(uint64_t address) const {
  for (const Device& device : devices_) {
    const uint64_t own = address - device.offset;
    if (own >= device.begin && own < device.end) return own;
  }
  return address;
}

bool LaunchMemory::is_valid(uint64_t address, uint64_t bytes) {
  void* kernel = nullptr;
  return softnpuProbeAddress(reinterpret_cast<const void*>(address), bytes, &kernel) == ACL_SUCCESS;
}

uint64_t LaunchMemory::valid_bytes(uint64_t address, uint64_t most) {
  if (is_valid(address, most)) return most;
  uint64_t low = 0;
  uint64_t high = most;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (is_valid(address, middle) ? low : high) = middle;
  }
  return low;
}

bool LaunchMemory::find(uint64_t address, softnpuBlock* before, softnpuBlock* behind) const {
  return blocks_ != nullptr && softnpuFindBlock(blocks_.get(), reinterpret_cast<void*>(address), before, behind) != 0;
}

const void* LaunchMemory::first_unwritten(uint64_t address, uint64_t bytes, const void** written_until) const {
  return softnpuFirstUnwritten(blocks_.get(), reinterpret_cast<const void*>(address), bytes, written_until);
}

bool LaunchMemory::is_given(const softnpuBlock& block) {
  const uint64_t begin = address_of(block);
  {
    std::lock_guard lock(mutex_);
    if (given_.contains(begin)) return true;
    if (refused_.contains(begin)) return false;
  }
  // Arguments say it of almost all; only what is left is worth reading tensors for. Without the lock: the program may
  // free what is read, and such a fault ends the block here.
  std::set<uint64_t> found;
  std::vector<Range> ranges;
  follow(arguments_, argument_bytes_, true, &found, &ranges);
  if (!found.contains(begin)) follow_all(std::move(ranges), &found);
  std::lock_guard lock(mutex_);
  given_.merge(found);
  if (given_.contains(begin)) return true;
  refused_.insert(begin);
  return false;
}

softnpuBlock LaunchMemory::given_before(uint64_t address) {
  std::lock_guard lock(mutex_);
  softnpuBlock before{};
  softnpuBlock behind{};
  const auto next = given_.lower_bound(address);
  if (next == given_.begin() || !find(*std::prev(next), &before, &behind)) return {};
  return before;
}

void LaunchMemory::follow_all(std::vector<Range> ranges, std::set<uint64_t>* given) const {
  std::set<uint64_t> seen;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range range = ranges[i];
    if (!seen.insert(range.begin).second) continue;
    const uint64_t bytes = std::min(range.end - range.begin, kMaxFollowed);
    void* kernel = nullptr;
    if (softnpuProbeAddress(reinterpret_cast<void*>(range.begin), bytes, &kernel) != ACL_SUCCESS) continue;
    follow(static_cast<const unsigned char*>(kernel), bytes, false, given, &ranges);
  }
}

void LaunchMemory::follow(const unsigned char* words, size_t bytes, bool are_arguments, std::set<uint64_t>* given,
                          std::vector<Range>* ranges) const {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    const uint64_t address = device_address(word_at(words + at));
    if (device_of(address) == nullptr && !are_arguments) continue;
    softnpuBlock before{};
    softnpuBlock behind{};
    if (find(address, &before, &behind)) {
      if (before.isLive == 0 || address >= address_of(before) + before.bytes) continue;
      given->insert(address_of(before));
      ranges->push_back({address_of(before), address_of(before) + before.bytes});
      // Only the first part of a range is followed; an argument may lead to a list behind it.
      if (are_arguments) ranges->push_back({address, address_of(before) + before.bytes});
      continue;
    }
    // Memory without blocks, or pinned memory of the host.
    const uint64_t size = valid_bytes(address, kMaxFollowed);
    if (size >= sizeof(uint64_t)) ranges->push_back({address, address + size});
  }
}

}  // namespace softnpu::kernel::check
