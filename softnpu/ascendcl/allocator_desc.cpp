// A program's own allocators: described, and registered for a stream.

#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>

#include "acl/acl_rt_allocator.h"
#include "ascendcl/api.h"
#include "base/handles.h"
#include "base/no_destroy.h"

using softnpu::api;
using softnpu::Handles;
using softnpu::NoDestroy;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

namespace {

struct AllocatorDesc {
  aclrtAllocator object = nullptr;  // passed to the functions unchanged
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc free = nullptr;
  aclrtAllocatorAllocAdviseFunc allocate_at = nullptr;  // optional
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;

  bool is_complete() const { return allocate != nullptr && free != nullptr && address != nullptr; }
};

// Copies of descriptions by stream. A destroyed stream's entry is removed: a new stream may get its address.
class Registry {
 public:
  void put(const std::shared_ptr<Stream>& stream, const AllocatorDesc& desc) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& entry) { return entry.second.stream.expired(); });
    entries_[stream.get()] = {stream, desc};
  }

  bool remove(const std::shared_ptr<Stream>& stream) {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(stream.get());
    if (it == entries_.end()) return false;
    bool alive = !it->second.stream.expired();
    entries_.erase(it);
    return alive;
  }

 private:
  struct Entry {
    std::weak_ptr<Stream> stream;
    AllocatorDesc desc;
  };
  std::mutex mutex_;
  std::unordered_map<const Stream*, Entry> entries_;
};

Handles<AllocatorDesc>& live() {
  static NoDestroy<Handles<AllocatorDesc>> descs("allocator description");
  return descs.get();
}

Registry& registry() {
  static NoDestroy<Registry> registry;
  return registry.get();
}

template <typename T>
aclError set(const char* function, aclrtAllocatorDesc handle, T AllocatorDesc::*field, T value) {
  return api(function, [&] {
    std::shared_ptr<AllocatorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(live().find(handle, &desc));
    if constexpr (!std::is_same_v<T, aclrtAllocator>) {
      SOFTNPU_RETURN_IF_ERROR(require(reinterpret_cast<const void*>(value), "func"));
    }
    (*desc).*field = value;
    return Status::ok();
  });
}

}  // namespace

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
  aclrtAllocatorDesc result = nullptr;
  (void)api("aclrtAllocatorCreateDesc", [&] {
    result = live().add(std::make_shared<AllocatorDesc>());
    return Status::ok();
  });
  return result;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return api("aclrtAllocatorDestroyDesc", [&] { return live().remove(allocatorDesc); });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return set("aclrtAllocatorSetObjToDesc", allocatorDesc, &AllocatorDesc::object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func) {
  return set("aclrtAllocatorSetAllocFuncToDesc", allocatorDesc, &AllocatorDesc::allocate, func);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func) {
  return set("aclrtAllocatorSetFreeFuncToDesc", allocatorDesc, &AllocatorDesc::free, func);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func) {
  return set("aclrtAllocatorSetAllocAdviseFuncToDesc", allocatorDesc, &AllocatorDesc::allocate_at, func);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return set("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", allocatorDesc, &AllocatorDesc::address, func);
}

// The description may be destroyed after the call. A second registration replaces the first.
aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return api("aclrtAllocatorRegister", [&]() -> Status {
    std::shared_ptr<AllocatorDesc> desc;
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(live().find(allocatorDesc, &desc));
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (!desc->is_complete()) {
      return {ACL_ERROR_INVALID_PARAM,
              "the description lacks a function: to allocate, to free, or to give a block's address"};
    }
    registry().put(target, *desc);
    return Status::ok();
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return api("aclrtAllocatorUnregister", [&]() -> Status {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (registry().remove(target)) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, "no allocator is registered for the stream"};
  });
}
