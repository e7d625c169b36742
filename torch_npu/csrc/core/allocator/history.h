#pragma once
// What the allocator of one device did, for torch.npu.memory._record_memory_history.

#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace torch_npu {

// Which stacks are kept, and how they are taken; PyTorch's terms.
struct HistorySettings {
  bool enabled = false;
  c10::CachingDeviceAllocator::CreateContextFn recorder = nullptr;
  std::size_t max_entries = 1;
  c10::CachingDeviceAllocator::RecordContext when = c10::CachingDeviceAllocator::RecordContext::NEVER;
};

// All but the two first functions are called under the lock of the cache whose history it is.
class History {
 public:
  using Entry = c10::CachingDeviceAllocator::TraceEntry;
  using Context = std::shared_ptr<c10::GatheredContext>;

  bool recording() const { return recording_.load(std::memory_order_relaxed); }

  // The calling thread's stack where the settings want it for `level`, else null. Taking it needs Python's lock, so no
  // other lock may be held.
  Context gather(c10::CachingDeviceAllocator::RecordContext level) const;

  void set(const HistorySettings& settings);
  void add(Entry::Action action, c10::DeviceIndex device, std::size_t address, std::size_t size, c10::StreamId stream,
           Context context);
  // Oldest first.
  std::vector<Entry> entries() const;

 private:
  std::atomic<bool> recording_{false};
  std::atomic<c10::CachingDeviceAllocator::RecordContext> when_{c10::CachingDeviceAllocator::RecordContext::NEVER};
  std::atomic<c10::CachingDeviceAllocator::CreateContextFn> recorder_{nullptr};
  std::size_t max_entries_ = 1;
  std::size_t next_ = 0;  // where the oldest entry stands once all places are taken
  std::vector<Entry> entries_;
};

}  // namespace torch_npu
