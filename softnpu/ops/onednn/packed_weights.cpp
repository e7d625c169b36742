#include "ops/onednn/packed_weights.h"

#include <algorithm>
#include <utility>

#include "acl/acl_rt.h"
#include "base/no_destroy.h"
#include "nnopbase/plan.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Smaller ones are packed in less time than they are looked up. Allocators need not tell of smaller blocks.
constexpr size_t kLeastBytes = size_t{16} << 10;
// Addresses that are remembered. Past it those without a copy are forgotten.
constexpr size_t kMostAddresses = 4096;

// Null where the device has no room.
std::shared_ptr<void> allocate(const void* beside, size_t bytes) {
  void* device = softnpuMallocBeside(beside, bytes);
  void* kernel = nullptr;
  if (device == nullptr) return nullptr;
  if (softnpuKernelAddress(device, bytes, &kernel) != ACL_SUCCESS) {
    aclrtFree(device);
    return nullptr;
  }
  return {kernel, [device](void*) { aclrtFree(device); }};
}

}  // namespace

PackedWeights& PackedWeights::get() {
  static NoDestroy<PackedWeights> instance;
  return instance.get();
}

PackedWeights::PackedWeights() {
  static const softnpuMemoryListener listener = {
      [](const void* base, size_t bytes) { get().forget(base, bytes); },
      [](int32_t) { get().press(); },
  };
  softnpuListenToMemory(&listener);
}

PackedWeights::Copy* PackedWeights::look_up(const Source& source, const dnnl::memory::desc& wanted) {
  const auto at = copies_.find(source.address);
  if (at == copies_.end()) return nullptr;
  const auto found = std::ranges::find_if(
      at->second, [&](const Copy& copy) { return copy.layout == source.layout && copy.wanted == wanted; });
  return found == at->second.end() ? nullptr : &*found;
}

std::shared_ptr<void> PackedWeights::find(const Source& source, const dnnl::memory::desc& wanted,
                                          const std::function<void(void* to)>& pack) {
  if (source.bytes < kLeastBytes || softnpuKeepsPackedWeights() == 0) return nullptr;
  const uint64_t written = softnpuLastWritten(source.address, source.bytes);
  if (written > launch_clock()) return nullptr;
  const size_t size = wanted.get_size();
  std::shared_ptr<void> stale;  // freed without the lock: who frees memory calls forget()
  {
    std::lock_guard lock(mutex_);
    Copy* copy = look_up(source, wanted);
    if (copy != nullptr && copy->written == written) {
      if (copy->memory != nullptr) return copy->memory;
      if (size > budget_ || kept_ > budget_ - size) return nullptr;
    } else {
      if (copy == nullptr) {
        if (copies_.size() >= kMostAddresses) {
          std::erase_if(copies_, [](const auto& entry) {
            return std::ranges::all_of(entry.second, [](const Copy& c) { return c.memory == nullptr; });
          });
        }
        copy = &copies_[source.address].emplace_back(Copy{std::string(source.layout), wanted, 0, nullptr});
        addresses_ = copies_.size();
      }
      drop(*copy);
      copy->written = written;
      stale = std::exchange(copy->memory, nullptr);
      return nullptr;
    }
  }
  std::shared_ptr<void> made = allocate(source.address, size);
  if (made == nullptr) return nullptr;
  pack(made.get());
  std::lock_guard lock(mutex_);
  Copy* copy = look_up(source, wanted);  // another thread may have packed too, or the original was freed
  if (copy != nullptr && copy->written == written && copy->memory == nullptr) {
    copy->memory = made;
    kept_ += size;
  }
  return made;
}

uint64_t PackedWeights::bytes_kept(const void* base, size_t size) const {
  uint64_t bytes = 0;
  std::lock_guard lock(mutex_);
  const auto end = copies_.lower_bound(static_cast<const char*>(base) + size);
  for (auto at = copies_.lower_bound(base); at != end; ++at) {
    for (const Copy& copy : at->second) bytes += copy.memory == nullptr ? 0 : copy.wanted.get_size();
  }
  return bytes;
}

void PackedWeights::drop(const Copy& copy) {
  if (copy.memory != nullptr) kept_ -= copy.wanted.get_size();
}

void PackedWeights::forget(const void* base, size_t bytes) {
  if (addresses_ == 0) return;
  std::vector<Copies> gone;
  std::lock_guard lock(mutex_);
  const auto end = copies_.lower_bound(static_cast<const char*>(base) + bytes);
  for (auto at = copies_.lower_bound(base); at != end; at = copies_.erase(at)) {
    for (const Copy& copy : at->second) drop(copy);
    gone.push_back(std::move(at->second));
  }
  addresses_ = copies_.size();
}

// Half of what there was is let in again: what the program needs and what is kept find a balance.
void PackedWeights::press() {
  std::vector<std::shared_ptr<void>> gone;
  std::lock_guard lock(mutex_);
  budget_ = kept_ / 2;
  for (auto& [address, copies] : copies_) {
    for (Copy& copy : copies) {
      drop(copy);
      gone.push_back(std::exchange(copy.memory, nullptr));
    }
  }
}

}  // namespace softnpu

aclError softnpuGetPackedBytes(int32_t deviceId, uint64_t* bytes) {
  void* base = nullptr;
  size_t size = 0;
  const aclError code = softnpuDeviceRange(deviceId, &base, &size);
  if (code == ACL_SUCCESS) *bytes = softnpu::PackedWeights::get().bytes_kept(base, size);
  return code;
}
