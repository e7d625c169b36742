// libms_tools_ext.so: marks and ranges, which a profile shows. Heaps and regions of memory get handles; no tool here
// reads them.

#include "mstx/ms_tools_ext.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/border.h"
#include "base/no_destroy.h"
#include "softnpu/trace.h"

namespace {

constexpr const char* kDefaultDomain = "default";

struct Range {
  std::string domain;
  std::string message;
  aclrtStream stream = nullptr;
  int64_t begin = 0;
};

struct State {
  std::mutex mutex;  // guards all below
  std::map<const void*, std::unique_ptr<std::string>> domains;
  std::map<mstxRangeId, Range> ranges;
  mstxRangeId last_range = MSTX_INVALID_ID;
};

State& state() {
  static softnpu::NoDestroy<State> instance;
  return instance.get();
}

// The domain's name; the default one's for null and for what is no live domain. The mutex is held.
std::string name_of(const void* domain) {
  const auto found = state().domains.find(domain);
  return found == state().domains.end() ? kDefaultDomain : *found->second;
}

std::string locked_name_of(const void* domain) {
  std::lock_guard lock(state().mutex);
  return name_of(domain);
}

mstxRangeId start(const void* domain, const char* message, aclrtStream stream) {
  if (message == nullptr) return MSTX_INVALID_ID;
  std::lock_guard lock(state().mutex);
  const mstxRangeId id = ++state().last_range;
  state().ranges[id] = {name_of(domain), message, stream, softnpuTraceNow()};
  return id;
}

void end(mstxRangeId id) {
  Range range;
  {
    std::lock_guard lock(state().mutex);
    const auto found = state().ranges.find(id);
    if (found == state().ranges.end()) return;
    range = std::move(found->second);
    state().ranges.erase(found);
  }
  softnpuTraceMark(range.domain.c_str(), range.message.c_str(), range.stream, range.begin);
}

mstxDomainHandle_t create_domain(const char* name) {
  if (name == nullptr) return nullptr;
  auto domain = std::make_unique<std::string>(name);
  auto* handle = reinterpret_cast<mstxDomainHandle_t>(domain.get());
  std::lock_guard lock(state().mutex);
  state().domains[handle] = std::move(domain);
  return handle;
}

void destroy_domain(const void* handle) {
  std::lock_guard lock(state().mutex);
  state().domains.erase(handle);
}

// A handle that is not null and used once.
template <typename Handle>
Handle next_handle() {
  static std::atomic<uintptr_t> last{0};
  return reinterpret_cast<Handle>(last.fetch_add(1) + 1);
}

}  // namespace

void mstxMarkA(const char* message, aclrtStream stream) {
  softnpu::guarded([&] { softnpuTraceMark(kDefaultDomain, message, stream, 0); });
}

mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
  return softnpu::guarded(mstxRangeId{MSTX_INVALID_ID}, [&] { return start(nullptr, message, stream); });
}

void mstxRangeEnd(mstxRangeId id) {
  softnpu::guarded([&] { end(id); });
}

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  return softnpu::guarded(mstxDomainHandle_t{nullptr}, [&] { return create_domain(name); });
}

void mstxDomainDestroy(mstxDomainHandle_t handle) {
  softnpu::guarded([&] { destroy_domain(handle); });
}

void mstxDomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  softnpu::guarded([&] { softnpuTraceMark(locked_name_of(handle).c_str(), message, stream, 0); });
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  return softnpu::guarded(mstxRangeId{MSTX_INVALID_ID}, [&] { return start(handle, message, stream); });
}

void mstxDomainRangeEnd(mstxDomainHandle_t, mstxRangeId id) {
  softnpu::guarded([&] { end(id); });
}

mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t, const mstxMemHeapDesc_t* desc) {
  return softnpu::guarded(mstxMemHeapHandle_t{nullptr},
                          [&] { return desc == nullptr ? nullptr : next_handle<mstxMemHeapHandle_t>(); });
}

void mstxMemHeapUnregister(mstxDomainHandle_t, mstxMemHeapHandle_t) {}

void mstxMemRegionsRegister(mstxDomainHandle_t, const mstxMemRegionsRegisterBatch_t* desc) {
  softnpu::guarded([&] {
    if (desc == nullptr || desc->regionHandleArrayOut == nullptr) return;
    for (size_t i = 0; i < desc->regionCount; ++i) {
      desc->regionHandleArrayOut[i] = next_handle<mstxMemRegionHandle_t>();
    }
  });
}

void mstxMemRegionsUnregister(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*) {}
