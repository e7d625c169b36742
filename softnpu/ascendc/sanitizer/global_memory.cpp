#include "ascendc/sanitizer/global_memory.h"

#include <algorithm>
#include <cstdio>

#include "softnpu/written_memory.h"

namespace softnpu::kernel::check {
namespace {

// So far from an allocation an address is said to be behind it.
constexpr uint64_t kNear = 4096;
// Copies move whole units.
constexpr uint64_t kUnit = 32;

uint64_t begin_of(const softnpuBlock& tensor) { return reinterpret_cast<uint64_t>(tensor.address); }
uint64_t end_of(const softnpuBlock& tensor) { return begin_of(tensor) + tensor.bytes; }

// "a tensor of 4096 bytes at 0x7f0000001000, allocated at train.py:12"
std::string describe(const softnpuBlock& tensor, const char* word = "a tensor") {
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(begin_of(tensor)));
  std::string result = std::string(word) + " of " + std::to_string(tensor.bytes) + " bytes at " + address;
  if (tensor.label != nullptr) result += std::string(", allocated at ") + tensor.label;
  return result;
}

std::string bytes_text(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

}  // namespace

GlobalMemory::Location GlobalMemory::location(uint64_t own) const {
  Location found;
  if (!launch_->find(own, &found.tensor, &found.behind)) return found;
  found.kind = Location::Kind::kBetween;
  if (found.tensor.address == nullptr) return found;
  found.limit = (end_of(found.tensor) + kUnit - 1) / kUnit * kUnit;
  if (found.behind.address != nullptr && found.behind.isLive != 0)
    found.limit = std::min(found.limit, begin_of(found.behind));
  if (own >= found.limit) return found;
  found.kind = found.tensor.isLive == 0          ? Location::Kind::kFreed
               : launch_->is_given(found.tensor) ? Location::Kind::kTensor
                                                 : Location::Kind::kNotGiven;
  return found;
}

uint64_t GlobalMemory::valid_bytes(uint64_t address, uint64_t bytes) {
  for (const Known& known : known_) {
    if (address >= known.begin && address + bytes <= known.end) return bytes;
  }
  const auto remember = [this](uint64_t begin, uint64_t end) { known_[next_known_++ % known_.size()] = {begin, end}; };
  const uint64_t own = launch_->device_address(address);
  const Location at = location(own);
  const auto is_valid = [&](uint64_t first) { return LaunchMemory::is_valid(own, first); };
  if (at.kind == Location::Kind::kTensor) {
    const uint64_t wanted = std::min(bytes, at.limit - own);
    // Allocations begin with a unit, so that the last one of a tensor is no other's.
    if (LaunchMemory::is_valid(begin_of(at.tensor), at.tensor.bytes)) {
      remember(address - (own - begin_of(at.tensor)), address + (at.limit - own));
      return wanted;
    }
    return LaunchMemory::valid_bytes(own, wanted);
  }
  if (at.kind != Location::Kind::kNoTensors) return 0;
  if (is_valid(bytes)) {
    // Grows the known range where it can, so that the next tile is found at once.
    const uint64_t more = bytes < (1 << 20) ? 16 * bytes : bytes;
    remember(address, address + bytes + (is_valid(bytes + more) ? more : 0));
    return bytes;
  }
  return LaunchMemory::valid_bytes(own, bytes);
}

uint64_t GlobalMemory::first_unwritten(uint64_t address, uint64_t bytes) {
  for (const Known& known : written_) {
    if (address >= known.begin && address + bytes <= known.end) return 0;
  }
  const uint64_t own = launch_->device_address(address);
  const void* until = nullptr;
  const void* first = launch_->first_unwritten(own, bytes, &until);
  const uint64_t written = reinterpret_cast<uint64_t>(until) - own;
  if (written >= bytes) written_[next_written_++ % written_.size()] = {address, address + written};
  return first == nullptr ? 0 : address + (reinterpret_cast<uint64_t>(first) - own);
}

void GlobalMemory::write(uint64_t address, uint64_t bytes) {
  for (const Known& known : written_) {
    if (address >= known.begin && address + bytes <= known.end) return;
  }
  softnpuKernelWrote(reinterpret_cast<const void*>(launch_->device_address(address)), bytes);
}

std::string GlobalMemory::problem(uint64_t address, uint64_t bytes) const {
  const uint64_t own = launch_->device_address(address);
  const Location at = location(own);
  switch (at.kind) {
    case Location::Kind::kFreed: return "a tensor that was freed";
    case Location::Kind::kNotGiven: return "a tensor that no argument of the kernel points to";
    case Location::Kind::kBetween: return "global memory that is no tensor's";
    case Location::Kind::kTensor:
      if (own + bytes > at.limit)
        return bytes_text(own + bytes - end_of(at.tensor)) + " behind the end of " + describe(at.tensor);
      break;
    case Location::Kind::kNoTensors: break;
  }
  const uint64_t valid = LaunchMemory::valid_bytes(own, bytes);
  if (valid == 0) return "global memory that is not allocated";
  return bytes_text(bytes - valid) + " behind the end of the allocation in global memory";
}

std::string GlobalMemory::neighbour(uint64_t address, uint64_t bytes) const {
  const uint64_t own = launch_->device_address(address);
  const Location at = location(own);
  std::string result;
  if (at.kind == Location::Kind::kNotGiven || at.kind == Location::Kind::kBetween ||
      at.kind == Location::Kind::kFreed) {
    const softnpuBlock given = launch_->given_before(own);
    if (given.address != nullptr && begin_of(given) != begin_of(at.tensor))
      result = "the kernel's tensor before it: " + describe(given);
  } else if (at.kind == Location::Kind::kTensor && at.behind.address != nullptr && at.behind.isLive != 0 &&
             own + bytes > begin_of(at.behind)) {
    result = "it reaches " + describe(at.behind);
  }
  return result;
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

std::string GlobalMemory::allocation_text(uint64_t own) {
  const auto is_valid = [](uint64_t address, uint64_t bytes) { return LaunchMemory::is_valid(address, bytes); };
  const uint64_t behind = most([&](uint64_t bytes) { return is_valid(own, bytes); });
  if (behind == 0) {
    const uint64_t back = most([&](uint64_t bytes) { return bytes < kNear && !is_valid(own - bytes, 1); }) + 1;
    if (back >= kNear) return "global memory that is not allocated";
    const uint64_t end = own - back + 1;
    const uint64_t size = most([&](uint64_t bytes) { return is_valid(end - bytes, bytes); });
    return std::to_string(own - end) + " bytes behind an allocation of " + std::to_string(size) +
           " bytes in global memory";
  }
  const uint64_t before = most([&](uint64_t bytes) { return is_valid(own - bytes, bytes); });
  return "byte " + std::to_string(before) + " of an allocation of " + std::to_string(before + behind) +
         " bytes in global memory";
}

std::string GlobalMemory::text(uint64_t address) const {
  const uint64_t own = launch_->device_address(address);
  const Location at = location(own);
  const std::string allocation = allocation_text(own);
  if (at.kind == Location::Kind::kNoTensors || at.tensor.address == nullptr) return allocation;
  if (at.kind == Location::Kind::kBetween)
    return bytes_text(own - end_of(at.tensor)) + " behind the end of " +
           describe(at.tensor, at.tensor.isLive != 0 ? "a tensor" : "a freed tensor") + "; " + allocation;
  const char* word = at.kind == Location::Kind::kFreed ? "a freed tensor" : "a tensor";
  return "byte " + std::to_string(own - begin_of(at.tensor)) + " of " + describe(at.tensor, word) + "; " + allocation;
}

}  // namespace softnpu::kernel::check
