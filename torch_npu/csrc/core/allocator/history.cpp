#include "core/allocator/history.h"

#include <algorithm>
#include <utility>

namespace torch_npu {

using c10::CachingDeviceAllocator::RecordContext;

History::Context History::gather(RecordContext level) const {
  if (!recording() || when_.load(std::memory_order_relaxed) < level) return nullptr;
  auto* recorder = recorder_.load(std::memory_order_relaxed);
  return recorder == nullptr ? nullptr : recorder();
}

void History::set(const HistorySettings& settings) {
  when_ = settings.when;
  recorder_ = settings.recorder;
  max_entries_ = std::max<std::size_t>(1, settings.max_entries);
  next_ = 0;
  entries_.clear();
  recording_ = settings.enabled;
}

void History::add(Entry::Action action, c10::DeviceIndex device, std::size_t address, std::size_t size,
                  c10::StreamId stream, Context context, c10::MempoolId_t pool) {
  if (!recording()) return;
  // A stack recorded only for live blocks is not part of the list.
  if (when_.load(std::memory_order_relaxed) < RecordContext::ALLOC) context = nullptr;
  Entry entry(action, device, address, size, reinterpret_cast<void*>(stream), pool, c10::getApproximateTime(),
              std::move(context));
  if (entries_.size() < max_entries_) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[next_] = std::move(entry);
    next_ = (next_ + 1) % max_entries_;
  }
}

std::vector<History::Entry> History::entries() const {
  std::vector<Entry> ordered(entries_.begin() + static_cast<std::ptrdiff_t>(next_), entries_.end());
  ordered.insert(ordered.end(), entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(next_));
  return ordered;
}

}  // namespace torch_npu
