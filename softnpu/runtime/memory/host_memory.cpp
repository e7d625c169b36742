#include "runtime/memory/host_memory.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "base/round.h"
#include "base/text.h"

namespace softnpu {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

void HostMemory::FreeDeleter::operator()(void* p) const { std::free(p); }

Status HostMemory::allocate(size_t size, void** out) {
  size_t rounded = round_up(size, kAlignment);
  std::unique_ptr<void, FreeDeleter> memory(rounded < size ? nullptr : std::aligned_alloc(kAlignment, rounded));
  if (!memory) return {ACL_ERROR_RT_MEMORY_ALLOCATION, text("out of host memory: asked for ", size, " bytes")};
  std::lock_guard lock(mutex_);
  void* address = memory.get();
  blocks_.emplace(static_cast<const char*>(address), Block{std::move(memory), size});
  *out = address;
  return Status::ok();
}

Status HostMemory::release(void* address) {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(static_cast<const char*>(address));
  if (it == blocks_.end() || it->second.memory == nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("free: ", address, " was not allocated by aclrtMallocHost")};
  }
  blocks_.erase(it);
  return Status::ok();
}

Status HostMemory::add(void* address, size_t size) {
  const auto* at = static_cast<const char*>(address);
  constexpr uintptr_t kLast = PTRDIFF_MAX;  // no host object ends after it
  const auto first = reinterpret_cast<uintptr_t>(address);
  if (first == 0 || size == 0 || first > kLast || size > kLast - first) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("registering ", size, " bytes of host memory at ", address)};
  }
  std::lock_guard lock(mutex_);
  auto next = blocks_.lower_bound(at);
  const bool overlaps_next = next != blocks_.end() && next->first < at + size;
  const bool overlaps_previous = next != blocks_.begin() && std::prev(next)->first + std::prev(next)->second.size > at;
  if (overlaps_next || overlaps_previous) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            text("registering ", size, " bytes at ", address, ": a part of it is registered or pinned already")};
  }
  blocks_[at] = {nullptr, size};
  return Status::ok();
}

Status HostMemory::remove(void* address) {
  std::lock_guard lock(mutex_);
  auto it = blocks_.find(static_cast<const char*>(address));
  if (it == blocks_.end() || it->second.memory != nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("unregister: ", address, " was not registered by aclrtHostRegister")};
  }
  blocks_.erase(it);
  return Status::ok();
}

bool HostMemory::contains(const void* address, size_t size) const {
  const auto* at = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return false;
  --it;
  const auto into = static_cast<size_t>(at - it->first);
  return into <= it->second.size && size <= it->second.size - into;
}

}  // namespace softnpu
