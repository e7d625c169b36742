#pragma once
// PyTorch's allocator for the device type npu.

#include <c10/core/CachingDeviceAllocator.h>

#include <utility>
#include <vector>

#include "core/allocator/history.h"

namespace torch_npu {

class CachingAllocator final : public c10::DeviceAllocator {
 public:
  // `nbytes` on the current device, for its current stream; null for 0 bytes.
  c10::DataPtr allocate(std::size_t nbytes) override;
  c10::DataPtr allocate_on(c10::DeviceIndex device, std::size_t nbytes);

  // The same without a DataPtr, for AI CPU kernels.
  void* allocate_raw(c10::DeviceIndex device, std::size_t nbytes);

  // Frees a result of allocate(); a no-op in a forked child, whose memory is the parent's.
  static void release(void* address) noexcept;

  // Whether `address` is the start of a block that allocate() returned and that was not released.
  static bool is_live(void* address);

  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* dest, const void* src, std::size_t count) const override;

  bool initialized() override;
  void emptyCache(c10::MempoolId_t pool = {0, 0}) override;
  void recordStream(const c10::DataPtr& ptr, c10::Stream stream) override;
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
  void resetAccumulatedStats(c10::DeviceIndex device) override;
  void resetPeakStats(c10::DeviceIndex device) override;
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override;

  void set_memory_fraction(c10::DeviceIndex device, double fraction);
  double memory_fraction(c10::DeviceIndex device);
  // Of all devices that were used.
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> snapshot();
  // The events of each device's cache since record_history() was switched on, oldest first.
  std::vector<std::vector<History::Entry>> history();
  void record_history(const HistorySettings& settings);

  // The memory range of `device` to be shared with another process for the live block at `address`.
  std::pair<char*, std::size_t> shareable(c10::DeviceIndex device, void* address);
};

// The one instance; never destroyed.
CachingAllocator& caching_allocator();

}  // namespace torch_npu
