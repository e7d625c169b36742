#include "ops/onednn/packed_weights.h"

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

// Smaller ones are packed in less time than they are looked up. Allocators need not tell of smaller blocks.
constexpr size_t kLeastBytes = size_t{16} << 10;
// Addresses that are remembered. Past it those without a copy are forgotten.
constexpr size_t kMostAddresses = 4096;
// Ways in which the bytes at one address may lie.
constexpr size_t kMostLayouts = 16;

// Null where the device has no room.
std::shared_ptr<void> allocate(const void* beside, size_t bytes) {
  void* device = softnpuMallocBeside(beside, bytes);
  void* kernel = nullptr;
  if (device == nullptr) return nullptr;
  if (softnpuKernelAddress(device, bytes, &kernel) != ACL_SUCCESS) {
    softnpuFree(device);
    return nullptr;
  }
  return {kernel, [device](void*) { softnpuFree(device); }};
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

PackedWeights::Weights* PackedWeights::look_up(const Source& source, uint64_t written) {
  const auto at = weights_.find(source.address);
  if (at == weights_.end()) return nullptr;
  const auto found = std::ranges::find(at->second, source.layout, &Weights::layout);
  return found == at->second.end() || found->written != written ? nullptr : &*found;
}

bool PackedWeights::meet(const Source& source, uint64_t written, std::vector<Copy>* stale) {
  if (Weights* known = look_up(source, written); known != nullptr) {
    if (known->meetings >= source.patience) return true;
    ++known->meetings;
    return false;
  }
  if (weights_.size() >= kMostAddresses) {
    std::erase_if(weights_, [](const auto& entry) {
      return std::ranges::all_of(entry.second, [](const Weights& w) { return w.copies.empty(); });
    });
  }
  std::vector<Weights>& here = weights_[source.address];
  addresses_ = weights_.size();
  // What is older was written since, or lies in a way that is not asked for any more.
  std::erase_if(here, [&](Weights& known) {
    if (known.written >= written && known.layout != source.layout && here.size() < kMostLayouts) return false;
    for (Copy& copy : known.copies) {
      drop(copy);
      stale->push_back(std::move(copy));
    }
    return true;
  });
  here.push_back({std::string(source.layout), written, 1, {}});
  return false;
}

std::shared_ptr<void> PackedWeights::find(const Source& source, const std::function<dnnl::memory::desc()>& wanted,
                                          const std::function<void(void* to)>& pack) {
  if (source.bytes < kLeastBytes || softnpuKeepsPackedWeights() == 0) return nullptr;
  const uint64_t written = softnpuLastWritten(source.address, source.bytes);
  if (written > launch_clock()) return nullptr;
  std::vector<Copy> stale;  // freed without the lock: who frees memory calls forget()
  {
    std::lock_guard lock(mutex_);
    if (!meet(source, written, &stale)) return nullptr;
  }
  const dnnl::memory::desc desc = wanted();
  const size_t size = desc.get_size();
  if (size == 0) return nullptr;
  {
    std::lock_guard lock(mutex_);
    const Weights* known = look_up(source, written);
    if (known == nullptr) return nullptr;
    const auto copy = std::ranges::find(known->copies, desc, &Copy::desc);
    if (copy != known->copies.end()) return copy->memory;
    if (budget_ != SIZE_MAX && softnpuHasRoom(source.address) != 0) budget_ = SIZE_MAX;
    if (size > budget_ || kept_ > budget_ - size) return nullptr;
  }
  std::shared_ptr<void> made = allocate(source.address, size);
  if (made == nullptr) return nullptr;
  pack(made.get());
  std::lock_guard lock(mutex_);
  Weights* known = look_up(source, written);  // another thread may have packed too, or the original was freed
  if (known != nullptr && std::ranges::find(known->copies, desc, &Copy::desc) == known->copies.end()) {
    known->copies.push_back({desc, made});
    kept_ += size;
  }
  return made;
}

uint64_t PackedWeights::bytes_kept(const void* base, size_t size) const {
  uint64_t bytes = 0;
  std::lock_guard lock(mutex_);
  const auto end = weights_.lower_bound(static_cast<const char*>(base) + size);
  for (auto at = weights_.lower_bound(base); at != end; ++at) {
    for (const Weights& weights : at->second) {
      for (const Copy& copy : weights.copies) bytes += copy.desc.get_size();
    }
  }
  return bytes;
}

void PackedWeights::forget(const void* base, size_t bytes) {
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

// Half of what there was is let in again: what the program needs and what is kept find a balance. Where nothing was
// kept the memory ran out for other reasons.
void PackedWeights::press() {
  std::vector<std::vector<Copy>> gone;
  std::lock_guard lock(mutex_);
  if (kept_ == 0) return;
  budget_ = kept_ / 2;
  kept_ = 0;
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
    *bytes = softnpu::PackedWeights::get().bytes_kept(base, size);
    return softnpu::Status::ok();
  });
}
