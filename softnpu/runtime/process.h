#pragma once
// The owner of everything that lives as long as the process: devices, contexts, events, host memory.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "runtime/callback_queue.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/host_memory.h"
#include "runtime/host_thread.h"
#include "runtime/memory_listeners.h"
#include "runtime/poller.h"
#include "runtime/shareable.h"
#include "runtime/sharing.h"
#include "runtime/system_options.h"

namespace softnpu {

// A context belongs to one device and has a default stream of its own.
struct Context {
  Device* device = nullptr;
  Stream* default_stream = nullptr;
  SystemOptions options;
};

// An event's handle is the address of this record, so that a handle can be checked without touching freed memory.
struct EventRecord {
  std::shared_ptr<Event> event;
  uint32_t flags = 0;
  const Context* context = nullptr;  // that it was made in: its streams record it, streams of all contexts wait for it
};

class Process {
 public:
  static constexpr int kMaxDevices = 16;

  // The one instance; it is never destroyed, so that calls made while the process exits still find it.
  static Process& get();

  // Between initialize() and finalize() devices can be used. Outside of it what is there can be given back: handles
  // destroyed, memory freed, devices reset; queries of the machine work always.
  // Counts: a second call fails with ACL_ERROR_REPEAT_INITIALIZE, and has to be answered by finalize_reference() too.
  Status initialize();
  Status finalize();
  // `left`: the uses that remain; the last one finalizes.
  Status finalize_reference(uint64_t* left);

  // Fails with a sentence in a child made by fork: threads and locks of the parent do not exist there.
  Status check_usable() const;
  bool forked() const { return forked_; }

  Status check_initialized() const;

  // Makes the device where this is its first use.
  Status device(int32_t id, Device** out);
  // The device where it is set up, else null.
  Device* live_device(int32_t id) const;
  // The device whose memory holds `address`, else null.
  Device* device_of(const void* address) const;

  // `allocate()`; where it fails, once more when those who keep memory of `device` for speed have given it back.
  template <typename Allocate>
  Status allocate_on(const Device& device, const Allocate& allocate) {
    Status status = allocate();
    return status.is_ok() || !memory_listeners_.on_out_of_memory(device.id()) ? status : allocate();
  }
  // Nobody wants the bytes of [base, base + bytes), of `device`, any more.
  void release_memory(Device& device, const void* base, size_t bytes) {
    device.write_epochs().bump(base, bytes);
    memory_listeners_.freed(base, bytes);
  }

  Status set_device(int32_t id);
  Status reset_device(int32_t id);
  // `function` hears of each reset before anything is dropped.
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
  // The same for a stream that is to be given back.
  Status find_stream(void* handle, std::shared_ptr<Stream>* out) const;

  // An event of the calling thread's context. With a `mark` it is shared with other processes.
  Status create_event(uint32_t flags, std::shared_ptr<SharedMark> mark, EventRecord** out);
  Status destroy_event(void* handle);
  Status event(void* handle, EventRecord* out) const;

  // The device that `handle`, physical memory, belongs to.
  Status device_of_physical(const void* handle, Device** out) const;

  HostMemory& host_memory() { return host_memory_; }
  MemoryListeners& memory_listeners() { return memory_listeners_; }
  Sharing& sharing() { return sharing_; }
  Shareables& shareables() { return shareables_; }
  SystemOptions& options() { return options_; }
  CallbackQueue& callback_queue() { return callback_queue_; }
  HostThread& host_thread() { return host_thread_; }
  Poller& poller() { return poller_; }

  // Joins the threads. Called when the process exits.
  void stop();

 private:
  template <typename T>
  friend class NoDestroy;
  Process();

  bool owns(const Context* context) const;
  // A new context with its default stream; mutex_ is held.
  Context* add_context(Device* device);

  // Guards the tables below. devices_ entries are set once and read without it.
  mutable std::shared_mutex mutex_;
  // Calls of aclInit that no finalization has answered. Written under mutex_, read without.
  std::atomic<uint64_t> initialized_{0};
  std::atomic<bool> finalized_{false};  // there was one; for the text of an error
  bool forked_ = false;
  std::array<std::unique_ptr<Device>, kMaxDevices> devices_;
  std::array<std::atomic<Device*>, kMaxDevices> live_{};
  std::array<Context*, kMaxDevices> primary_{};
  std::unordered_map<const Context*, std::unique_ptr<Context>> contexts_;
  // Destroyed contexts: other threads may be in calls that use them, and their handles must never name new ones.
  std::vector<std::unique_ptr<Context>> dead_contexts_;
  std::unordered_map<const void*, std::unique_ptr<EventRecord>> events_;
  std::vector<void (*)(int32_t)> reset_listeners_;
  HostMemory host_memory_;
  MemoryListeners memory_listeners_;
  Sharing sharing_;
  Shareables shareables_;
  SystemOptions options_;
  CallbackQueue callback_queue_;
  HostThread host_thread_;
  Poller poller_;
};

}  // namespace softnpu
