#pragma once
// The owner of everything with the lifetime of the process: devices, contexts, events, host memory.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "runtime/device.h"
#include "runtime/ipc/exports.h"
#include "runtime/ipc/sharing.h"
#include "runtime/memory/host_memory.h"
#include "runtime/memory/memory_listeners.h"
#include "runtime/stream/callback_queue.h"
#include "runtime/stream/event.h"
#include "runtime/stream/host_thread.h"
#include "runtime/stream/poller.h"
#include "runtime/system_options.h"

namespace softnpu {

// A context belongs to one device and has a default stream of its own.
struct Context {
  Device* device = nullptr;
  Stream* default_stream = nullptr;
  SystemOptions options;
};

// An event's handle is the address of this record: a handle is checked without touching freed memory.
struct EventRecord {
  std::shared_ptr<Event> event;
  uint32_t flags = 0;
  const Context* context = nullptr;  // in which it was made: its streams record it, streams of all contexts wait for it
};

class Process {
 public:
  static constexpr int kMaxDevices = 16;

  // The one instance. It is never destroyed, so that calls during process exit can use it.
  static Process& get();

  // Devices can be used between initialize() and finalize(). Outside of it, resources can still be released (handles
  // destroyed, memory freed, devices reset) and queries of the machine work.
  // initialize() counts: a second call fails with ACL_ERROR_REPEAT_INITIALIZE, and needs its own finalize_reference().
  Status initialize();
  // What sets a device in a process that was never initialized does it by itself; the first initialize() after that
  // fails with the same code and is counted as that one. After finalize() it takes an explicit initialize().
  Status initialize_for_device();
  Status finalize();
  // `left`: the number of remaining uses. The last call finalizes.
  Status finalize_reference(uint64_t* left);

  // Fails in a forked child: the parent's threads and locks do not exist there.
  Status check_usable() const;
  bool forked() const { return forked_; }

  Status check_initialized() const;

  // Creates the device on its first use.
  Status device(int32_t id, Device** out);
  // The device if it is set up, else null.
  Device* live_device(int32_t id) const;
  // The device whose memory contains `address`, else null.
  Device* device_of(const void* address) const;

  // Calls `allocate()`. If it fails and caches of `device` or importers of its memory have released some, calls it once
  // more.
  template <typename Allocate>
  Status allocate_on(const Device& device, const Allocate& allocate) {
    Status status = allocate();
    if (status.is_ok()) return status;
    const bool has_ended = exports_.end_leases();
    return memory_listeners_.on_out_of_memory(device.id()) || has_ended ? allocate() : status;
  }
  // Called when [base, base + bytes) of `device` is freed: raises its write epochs and notifies the listeners.
  void release_memory(Device& device, const void* base, size_t bytes) {
    device.write_epochs().bump(base, bytes);
    memory_listeners_.freed(base, bytes);
  }

  // set_device() counts; the last reset_device() of as many, and each with `force`, releases the device.
  Status set_device(int32_t id);
  Status reset_device(int32_t id, bool force);
  // Whether floating-point results saturate, on all devices: those that are set up and those that will be.
  void set_saturating(bool saturates);
  // Calls `function` at each release, before anything is dropped.
  void on_reset(void (*function)(int32_t id));

  Status create_context(int32_t device_id, Context** out);
  Status destroy_context(Context* context);
  Status set_current(Context* context);
  // The calling thread's context.
  Status current(Context** out) const;
  bool has_primary(int32_t device_id) const;

  Status create_stream(StreamConfig config, Stream** out);
  Status destroy_stream(void* handle, bool force);
  // Null names the default stream of the calling thread's context.
  Status stream(void* handle, std::shared_ptr<Stream>* out) const;
  // The same for a stream that is about to be destroyed.
  Status find_stream(void* handle, std::shared_ptr<Stream>* out) const;

  // An event of the calling thread's context. With a `mark` it is shared with other processes.
  Status create_event(uint32_t flags, std::shared_ptr<SharedMark> mark, EventRecord** out);
  Status destroy_event(void* handle);
  Status event(void* handle, EventRecord* out) const;

  // The device that owns the physical memory `handle`.
  Status device_of_physical(const void* handle, Device** out) const;

  HostMemory& host_memory() { return host_memory_; }
  MemoryListeners& memory_listeners() { return memory_listeners_; }
  Sharing& sharing() { return sharing_; }
  Exports& exports() { return exports_; }
  SystemOptions& options() { return options_; }
  CallbackQueue& callback_queue() { return callback_queue_; }
  HostThread& host_thread() { return host_thread_; }
  Poller& poller() { return poller_; }

  // Joins the threads. Called at process exit.
  void stop();

 private:
  template <typename T>
  friend class NoDestroy;
  Process();

  bool owns(const Context* context) const;
  // Destroys all that was made on the device: contexts, streams, memory.
  Status release_device(int32_t id, Device* device);
  // A new context with its default stream; mutex_ is held.
  Context* add_context(Device* device);

  // Guards the tables below. devices_ entries are set once and read without it.
  mutable std::shared_mutex mutex_;
  // aclInit calls without a matching finalization. Written under mutex_, read without.
  std::atomic<uint64_t> initialized_{0};
  bool is_implicit_ = false;            // the one use is initialize_for_device()'s; guarded by mutex_
  bool saturates_ = false;              // of devices that are set up later; guarded by mutex_
  std::atomic<bool> finalized_{false};  // finalize() was called; for an error text
  bool forked_ = false;
  std::array<std::unique_ptr<Device>, kMaxDevices> devices_;
  std::array<std::atomic<Device*>, kMaxDevices> live_{};
  std::array<Context*, kMaxDevices> primary_{};
  std::array<uint64_t, kMaxDevices> set_counts_{};  // set_device() calls without a matching reset_device()
  std::unordered_map<const Context*, std::unique_ptr<Context>> contexts_;
  // Destroyed contexts: other threads may still use them, and no new context may get the same handle.
  std::vector<std::unique_ptr<Context>> dead_contexts_;
  std::unordered_map<const void*, std::unique_ptr<EventRecord>> events_;
  std::vector<void (*)(int32_t)> reset_listeners_;
  HostMemory host_memory_;
  MemoryListeners memory_listeners_;
  Exports exports_;
  Sharing sharing_;
  SystemOptions options_;
  CallbackQueue callback_queue_;
  HostThread host_thread_;
  Poller poller_;
};

}  // namespace softnpu
