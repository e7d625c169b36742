#pragma once
// The allocator events of one device, for torch.npu.memory._record_memory_history.

#include <c10/core/CachingDeviceAllocator.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace torch_npu {

// Which stacks are recorded, and how; in PyTorch's terms.
struct HistorySettings {
  bool enabled = false;
  c10::CachingDeviceAllocator::CreateContextFn recorder = nullptr;
  std::size_t max_entries = 1;
  c10::CachingDeviceAllocator::RecordContext when = c10::CachingDeviceAllocator::RecordContext::NEVER;
};

// All functions except the first two are called under the lock of the history's cache.
class History {
 public:
  using Entry = c10::CachingDeviceAllocator::TraceEntry;
  using Context = std::shared_ptr<c10::GatheredContext>;

  bool recording() const { return recording_.load(std::memory_order_relaxed); }

  // The calling thread's stack if the settings record it for `level`, else null. Needs Python's lock, so no other lock
  // may be held.
  Context gather(c10::CachingDeviceAllocator::RecordContext level) const;

  void set(const HistorySettings& settings);
  void add(Entry::Action action, c10::DeviceIndex device, std::size_t address, std::size_t size, c10::StreamId stream,
           Context context, c10::MempoolId_t pool = {0, 0});
  // Oldest first.
  std::vector<Entry> entries() const;

 private:
  std::atomic<bool> recording_{false};
  std::atomic<c10::CachingDeviceAllocator::RecordContext> when_{c10::CachingDeviceAllocator::RecordContext::NEVER};
  std::atomic<c10::CachingDeviceAllocator::CreateContextFn> recorder_{nullptr};
  std::size_t max_entries_ = 1;
  std::size_t next_ = 0;  // index of the oldest entry once the list is full
  std::vector<Entry> entries_;
};

}  // namespace torch_npu
