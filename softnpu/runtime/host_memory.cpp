#include "runtime/host_memory.h"

#include <cstdlib>

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
  if (blocks_.erase(static_cast<const char*>(address)) == 0) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("free: ", address, " was not allocated by aclrtMallocHost")};
  }
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
