#include "ops/blas/weights/packed_weights.h"

#include <algorithm>
#include <utility>

#include "acl/acl_rt.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "nnopbase/plan.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Packing smaller weights is faster than looking them up. Allocators do not report the free of smaller blocks.
constexpr size_t kMinBytes = size_t{16} << 10;
// Addresses in the cache. Above it, entries without a copy are removed.
constexpr size_t kMaxAddresses = 4096;
// The number of layouts per address.
constexpr size_t kMaxLayouts = 16;

thread_local PackedWeights::Copies* recording = nullptr;

// Null if the device is out of memory.
std::shared_ptr<void> allocate(const void* same_device, size_t bytes) {
  void* device = softnpuTryMallocSameDevice(same_device, bytes);
  void* kernel = nullptr;
  if (device == nullptr) return nullptr;
  if (softnpuProbeAddress(device, bytes, &kernel) != ACL_SUCCESS) {
    softnpuFree(device);
    return nullptr;
  }
  return {kernel, [device](void*) { softnpuFree(device); }};
}

}  // namespace

PackedWeights::Recording::Recording(Copies* to) : previous_(std::exchange(recording, to)) {}
PackedWeights::Recording::~Recording() { recording = previous_; }

PackedWeights& PackedWeights::get() {
  static NoDestroy<PackedWeights> instance;
  return instance.get();
}

PackedWeights::PackedWeights() {
  static const softnpuMemoryListener listener = {
      [](const void* base, size_t bytes) { get().on_freed(base, bytes); },
      [](int32_t) { get().trim(); },
  };
  softnpuListenToMemory(&listener);
}

PackedWeights::Weights* PackedWeights::look_up(const Source& source, uint64_t epoch) {
  const auto at = weights_.find(source.address);
  if (at == weights_.end()) return nullptr;
  const auto found = std::ranges::find(at->second, source.layout, &Weights::layout);
  return found == at->second.end() || found->epoch != epoch ? nullptr : &*found;
}

bool PackedWeights::record_use(const Source& source, uint64_t epoch, std::vector<Copy>* stale) {
  if (Weights* known = look_up(source, epoch); known != nullptr) {
    if (known->use_count >= source.min_uses) return true;
    ++known->use_count;
    return false;
  }
  if (weights_.size() >= kMaxAddresses) {
    std::erase_if(weights_, [](const auto& entry) {
      return std::ranges::all_of(entry.second, [](const Weights& w) { return w.copies.empty(); });
    });
  }
  std::vector<Weights>& here = weights_[source.address];
  addresses_ = weights_.size();
  // Removes copies of bytes that were overwritten, or of layouts no longer in use.
  std::erase_if(here, [&](Weights& known) {
    if (known.epoch >= epoch && known.layout != source.layout && here.size() < kMaxLayouts) return false;
    for (Copy& copy : known.copies) {
      drop(copy);
      stale->push_back(std::move(copy));
    }
    return true;
  });
  here.push_back({std::string(source.layout), epoch, 1, {}});
  return false;
}

std::shared_ptr<void> PackedWeights::find(const Source& source, const std::function<PackedLayout()>& packed_layout,
                                          const std::function<void(void* to)>& pack) {
  if (source.bytes < kMinBytes || softnpuKeepsPackedWeights() == 0) return nullptr;
  const uint64_t epoch = softnpuLastWriteEpoch(source.address, source.bytes);
  if (epoch > softnpuLaunchEpoch()) return nullptr;
  std::vector<Copy> stale;  // destroyed after unlocking: freeing calls on_freed()
  {
    std::lock_guard lock(mutex_);
    if (!record_use(source, epoch, &stale)) return nullptr;
  }
  const PackedLayout packed = packed_layout();
  const size_t size = packed.bytes();
  if (size == 0) return nullptr;
  {
    std::lock_guard lock(mutex_);
    const Weights* known = look_up(source, epoch);
    if (known == nullptr) return nullptr;
    const auto copy = std::ranges::find(known->copies, packed, &Copy::layout);
    if (copy != known->copies.end()) return copy->memory;
    if (budget_ != SIZE_MAX && softnpuHasRoom(source.address) != 0) budget_ = SIZE_MAX;
    if (size > budget_ || bytes_ > budget_ - size) return nullptr;
  }
  std::shared_ptr<void> result = allocate(source.address, size);
  if (result == nullptr) return nullptr;
  pack(result.get());
  std::lock_guard lock(mutex_);
  Weights* known = look_up(source, epoch);  // meanwhile another thread may have packed it, or the original was freed
  if (known != nullptr && std::ranges::find(known->copies, packed, &Copy::layout) == known->copies.end()) {
    known->copies.push_back({packed, result});
    bytes_ += size;
    if (recording != nullptr) recording->push_back({source.address, std::string(source.layout), packed});
  }
  return result;
}

void PackedWeights::drop(const Copies& copies) {
  std::vector<std::shared_ptr<void>> gone;  // destroyed after unlocking: freeing calls on_freed()
  std::lock_guard lock(mutex_);
  for (const CopyKey& key : copies) {
    const auto at = weights_.find(key.address);
    if (at == weights_.end()) continue;
    for (Weights& weights : at->second) {
      if (weights.layout != key.layout) continue;
      std::erase_if(weights.copies, [&](Copy& copy) {
        if (copy.layout != key.packed) return false;
        drop(copy);
        gone.push_back(std::move(copy.memory));
        return true;
      });
    }
  }
}

uint64_t PackedWeights::packed_bytes(const void* base, size_t size) const {
  uint64_t bytes = 0;
  std::lock_guard lock(mutex_);
  const auto end = weights_.lower_bound(static_cast<const char*>(base) + size);
  for (auto at = weights_.lower_bound(base); at != end; ++at) {
    for (const Weights& weights : at->second) {
      for (const Copy& copy : weights.copies) bytes += copy.layout.bytes();
    }
  }
  return bytes;
}

void PackedWeights::on_freed(const void* base, size_t bytes) {
  if (addresses_ == 0) return;
  std::vector<std::vector<Weights>> gone;
  std::lock_guard lock(mutex_);
  const auto end = weights_.lower_bound(static_cast<const char*>(base) + bytes);
  for (auto at = weights_.lower_bound(base); at != end; at = weights_.erase(at)) {
    for (const Weights& weights : at->second) {
      for (const Copy& copy : weights.copies) drop(copy);
    }
    gone.push_back(std::move(at->second));
  }
  addresses_ = weights_.size();
}

// Sets the budget to half of the copies' size: the program's memory and the copies reach a balance. If there were no
// copies, memory was exhausted for other reasons.
void PackedWeights::trim() {
  std::vector<std::vector<Copy>> gone;
  std::lock_guard lock(mutex_);
  if (bytes_ == 0) return;
  budget_ = bytes_ / 2;
  bytes_ = 0;
  for (auto& [address, here] : weights_) {
    for (Weights& weights : here) gone.push_back(std::exchange(weights.copies, {}));
  }
}

}  // namespace softnpu

aclError softnpuGetPackedBytes(int32_t deviceId, uint64_t* bytes) {
  return softnpu::api("softnpuGetPackedBytes", [&]() -> softnpu::Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(bytes, "bytes"));
    void* base = nullptr;
    size_t size = 0;
    const aclError code = softnpuDeviceRange(deviceId, &base, &size);
    if (code != ACL_SUCCESS) return {code, softnpu::text("device ", deviceId, " has no memory yet")};
    *bytes = softnpu::PackedWeights::get().packed_bytes(base, size);
    return softnpu::Status::ok();
  });
}
