#pragma once
// One software NPU: its memory, its executor and its streams.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "base/status_layout.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/region.h"
#include "runtime/memory/virtual_memory.h"
#include "runtime/memory/write_epochs.h"
#include "runtime/overflow.h"
#include "runtime/stream/core_limits.h"
#include "runtime/stream/executor.h"
#include "runtime/stream/stream.h"

namespace softnpu {

class Device {
 public:
  static Status create(int32_t id, std::unique_ptr<Device>* out);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  int32_t id() const { return id_; }
  Region& region() { return *region_; }
  Heap& heap() { return heap_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  CoreLimits& core_limits() { return core_limits_; }
  Overflow& overflow() { return overflow_; }
  WriteEpochs& write_epochs() { return write_epochs_; }

  // The write epoch of [address, address + bytes). False if the range can also be written by another process or through
  // another mapping.
  bool last_write_epoch(const void* address, size_t bytes, uint64_t* epoch) const;
  const Executor& executor() const { return executor_; }
  // Whether the process uses the device, for npu-smi.
  void show_open(bool is_open) { status_.is_open.store(is_open ? 1 : 0, std::memory_order_relaxed); }
  // See Executor.
  void leave_overdue(std::chrono::nanoseconds limit) { executor_.leave_overdue(limit); }

  // The share of time that the executor was busy since the last call, in percent.
  int32_t utilization();

  // The live allocation or mapping that contains `address`; false if there is none.
  bool find(const void* address, Allocation* out) const;

  Stream* new_stream(StreamConfig config = {});
  // The live stream of `handle`; null if it names none.
  std::shared_ptr<Stream> find_stream(const void* handle) const;
  // False if `handle` names no live stream.
  bool forget_stream(const void* handle);
  // Incremented after a stream of any device was forgotten.
  static uint64_t stream_epoch() { return stream_epoch_.load(std::memory_order_acquire); }

  // Waits for every stream and returns the first error.
  Status synchronize(std::chrono::milliseconds timeout);

  // Drops all tasks that have not begun (each stream's next synchronisation reports it) and waits for the running one.
  // False if it is still running at `end`, which may be max().
  bool abort(std::chrono::steady_clock::time_point end);

  using Streams = std::unordered_map<const void*, std::shared_ptr<Stream>>;
  // Removes all streams from the device and returns them.
  Streams take_streams();
  // Drops all queued tasks of `streams` and waits for the running ones.
  static void end(const Streams& streams);
  // Forgets every allocation, none of which may be in use; keeps the memory for reuse. Calls `drop` before addresses
  // are unmapped.
  void reset(const std::function<void()>& drop);
  // How often reset() was called: addresses from before the last one are no longer the program's.
  uint64_t resets() const { return resets_.load(std::memory_order_acquire); }

  // Waits for the running task and drops the others. `wakes_waiters`: also wakes threads that wait for those.
  void stop(bool wakes_waiters);

 private:
  Device(int32_t id, std::unique_ptr<Region> region, size_t capacity, DeviceStatus* status)
      : id_(id),
        status_(*status),
        region_(std::move(region)),
        heap_(region_.get(), capacity, &status->used),
        virtual_memory_(region_.get(), &heap_),
        write_epochs_(*region_),
        executor_(status) {}

  const int32_t id_;
  DeviceStatus& status_;
  const std::unique_ptr<Region> region_;
  Heap heap_;
  VirtualMemory virtual_memory_;
  WriteEpochs write_epochs_;
  CoreLimits core_limits_;
  Overflow overflow_;
  std::atomic<uint64_t> resets_{0};
  Executor executor_;
  mutable std::mutex mutex_;  // guards all members below
  static inline std::atomic<uint64_t> stream_epoch_{1};
  Streams streams_;
  uint32_t next_stream_ = 0;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();  // the last call of utilization()
  std::chrono::nanoseconds busy_then_{0};
};

}  // namespace softnpu
