#pragma once
// A bounded queue of datasets. All handles of one device and name share it.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handles.h"
#include "base/status.h"
#include "tdt/dataset.h"

namespace softnpu {

class Channel {
 public:
  using Items = std::vector<acltdtDataItem>;

  explicit Channel(size_t capacity) : capacity_(capacity) {}

  // The live channel of the device and name, or a new one of `capacity`.
  static std::shared_ptr<Channel> get(uint32_t device, const std::string& name, size_t capacity);

  // Waits up to `timeout`, for ever if it is negative, or until `stopped`, which stop() sets.
  Status send(Items items, std::chrono::milliseconds timeout, const bool& stopped);
  Status receive(Items* items, std::chrono::milliseconds timeout, const bool& stopped);
  void stop(bool* stopped);
  size_t size() const;

 private:
  // Waits until `is_ready`; fails with `code` after the time.
  template <typename Ready>
  Status wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout, const bool& stopped, aclError code,
              const char* state, Ready is_ready);

  const size_t capacity_;
  mutable std::mutex mutex_;  // guards queue_ and the flags `stopped`
  std::condition_variable changed_;
  std::deque<Items> queue_;
};

}  // namespace softnpu

struct acltdtChannelHandle {
  std::shared_ptr<softnpu::Channel> channel;
  std::string name;
  bool stopped = false;
};

namespace softnpu {

Handles<acltdtChannelHandle>& channel_handles();

}  // namespace softnpu
