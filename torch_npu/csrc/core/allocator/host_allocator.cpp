#include "core/allocator/host_allocator.h"

#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

// The blocks from aclrtMallocHost, by address.
class PinnedRanges {
 public:
  void add(void* address, std::size_t size) {
    std::lock_guard lock(mutex_);
    ranges_[static_cast<char*>(address)] = size;
  }
  void remove(void* address) {
    std::lock_guard lock(mutex_);
    ranges_.erase(static_cast<char*>(address));
  }
  bool contains(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    std::lock_guard lock(mutex_);
    auto it = ranges_.upper_bound(const_cast<char*>(byte));
    if (it == ranges_.begin()) return false;
    --it;
    return byte < it->first + it->second;
  }

 private:
  mutable std::mutex mutex_;  // guards ranges_
  std::map<char*, std::size_t> ranges_;
};

PinnedRanges& ranges() {
  static auto& instance = *std::make_unique<PinnedRanges>().release();  // used until the end of the process
  return instance;
}

struct EventDeleter {
  void operator()(void* event) const noexcept {
    if (!in_bad_fork()) acl_warn(aclrtDestroyEvent(event), "aclrtDestroyEvent");
  }
};
using Event = std::unique_ptr<void, EventDeleter>;

struct HostCache final : at::CachingHostAllocatorImpl<c10::Stream, Event> {
  using Block = at::HostBlock<c10::Stream>;

  void allocate_host_memory(std::size_t size, void** address) override {
    bind_device(current_device());
    acl_check(aclrtMallocHost(address, size), "aclrtMallocHost");
    ranges().add(*address, size);
  }

  void free_block(Block* block) override {
    ranges().remove(block->ptr_);
    if (!in_bad_fork()) acl_warn(aclrtFreeHost(block->ptr_), "aclrtFreeHost");
  }

  void record_stream(std::optional<std::vector<Event>>& events, c10::Stream stream) override {
    void* event = nullptr;
    bind_device(stream.device_index());
    acl_check(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    events->emplace_back(event);
    acl_check(aclrtRecordEvent(event, Enqueue(stream).handle()), "aclrtRecordEvent");
  }

  bool query_event(Event& event) override {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    acl_check(aclrtQueryEventStatus(event.get(), &status), "aclrtQueryEventStatus");
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

  c10::Stream get_current_stream() const override { return current_stream(current_device()); }
  bool stream_is_capturing(c10::Stream stream) const override { return capture_of(stream) != nullptr; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
};

void release(void* context);
struct HostAllocator final : at::CachingHostAllocatorInterface<HostCache, &release> {};

HostAllocator& instance() {
  static auto& allocator = *std::make_unique<HostAllocator>().release();
  return allocator;
}

void release(void* context) { instance().free(context); }

[[maybe_unused]] const bool registered = [] {
  at::setHostAllocator(c10::DeviceType::PrivateUse1, &instance());
  return true;
}();

}  // namespace

at::HostAllocator& host_allocator() { return instance(); }

bool is_pinned(const void* address) { return ranges().contains(address); }

}  // namespace torch_npu
