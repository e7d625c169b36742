#include "runtime/process.h"

#include <pthread.h>

#include <cstdlib>

#include "base/join.h"
#include "base/no_destroy.h"
#include "base/round.h"
#include "base/text.h"
#include "runtime/config.h"
#include "runtime/memory/memory_blocks.h"

namespace softnpu {
namespace {

thread_local Context* current_context = nullptr;

// The stream that this thread looked up last: most launches use the same one. It keeps a destroyed stream's memory
// until the next lookup or the thread's end.
struct LastStream {
  const void* handle = nullptr;
  uint64_t epoch = 0;    // Device::stream_epoch() before the lookup
  bool is_over = false;  // the thread is ending
};
thread_local constinit LastStream last_stream;
struct LastStreamHolder {
  std::shared_ptr<Stream> stream;
  ~LastStreamHolder() { last_stream = {nullptr, 0, true}; }
};
thread_local LastStreamHolder last_stream_holder;

}  // namespace

Process& Process::get() {
  static NoDestroy<Process> process;
  return process.get();
}

Process::Process() {
  pthread_atfork(nullptr, nullptr, [] {
    Process::get().forked_ = true;
    Process::get().exports_.leave_to_parent();
  });
}

Status Process::initialize() {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(config_status());
  std::unique_lock lock(mutex_);
  if (is_implicit_) {
    is_implicit_ = false;  // its use is this caller's now
    return {ACL_ERROR_REPEAT_INITIALIZE, "a device was set before aclInit, which initialized the process"};
  }
  if (initialized_++ > 0) return {ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before"};
  return Status::ok();
}

Status Process::initialize_for_device() {
  if (initialized_.load(std::memory_order_relaxed) > 0) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(config_status());
  std::unique_lock lock(mutex_);
  if (initialized_ > 0) return Status::ok();
  if (finalized_) return check_initialized();
  initialized_ = 1;
  is_implicit_ = true;
  return Status::ok();
}

Status Process::finalize() {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  for (int32_t id = 0; id < kMaxDevices; ++id) {
    if (Device* device = live_device(id)) {
      // No caller is left that could react to an asynchronous failure.
      (void)device->synchronize(std::chrono::milliseconds(-1));
    }
  }
  std::unique_lock lock(mutex_);
  if (initialized_ == 0) return {ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit"};
  initialized_ = 0;
  is_implicit_ = false;
  finalized_ = true;
  return Status::ok();
}

Status Process::finalize_reference(uint64_t* left) {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  {
    std::unique_lock lock(mutex_);
    if (initialized_ == 0) return {ACL_ERROR_UNINITIALIZE, "aclFinalizeReference without aclInit"};
    if (left != nullptr) *left = initialized_ - 1;
    if (initialized_ > 1) {
      --initialized_;
      return Status::ok();
    }
  }
  return finalize();
}

Status Process::check_usable() const {
  if (!forked_) return Status::ok();
  return {ACL_ERROR_RT_CONTEXT_NULL,
          "the NPU cannot be used in a process made by fork after the parent used it: start it with spawn"};
}

Status Process::check_initialized() const {
  if (initialized_.load(std::memory_order_relaxed) > 0) return Status::ok();
  return {ACL_ERROR_UNINITIALIZE,
          finalized_ ? "aclFinalize was called: the NPU can be used after another aclInit"
                     : "aclInit was not called: it, or aclrtSetDevice, comes before all that uses the NPU"};
}

Status Process::device(int32_t id, Device** out) {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(config_status());
  int count = config().device_count();
  if (id < 0 || id >= count) {
    return {ACL_ERROR_RT_INVALID_DEVICEID,
            text("device ", id, " does not exist: there ", count == 1 ? "is 1 device" : text("are ", count, " devices"),
                 " (SOFTNPU_DEVICE_COUNT)")};
  }
  *out = live_device(id);
  if (*out != nullptr) return Status::ok();
  std::unique_lock lock(mutex_);
  auto& slot = devices_[static_cast<size_t>(id)];
  if (!slot) {
    SOFTNPU_RETURN_IF_ERROR(Device::create(id, &slot));
    slot->overflow().set_saturating(saturates_);
    static const int registered = std::atexit([] { Process::get().stop(); });
    (void)registered;
    live_[static_cast<size_t>(id)].store(slot.get(), std::memory_order_release);
  }
  *out = slot.get();
  return Status::ok();
}

void Process::set_saturating(bool saturates) {
  std::unique_lock lock(mutex_);
  saturates_ = saturates;
  for (const auto& slot : live_) {
    if (Device* device = slot.load(std::memory_order_acquire)) device->overflow().set_saturating(saturates);
  }
}

Device* Process::live_device(int32_t id) const {
  if (id < 0 || id >= kMaxDevices) return nullptr;
  return live_[static_cast<size_t>(id)].load(std::memory_order_acquire);
}

Device* Process::device_of(const void* address) const {
  for (const auto& slot : live_) {
    Device* device = slot.load(std::memory_order_acquire);
    if (device != nullptr && device->region().contains(address)) return device;
  }
  return nullptr;
}

Status Process::device_of_physical(const void* handle, Device** out) const {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  for (const auto& slot : live_) {
    *out = slot.load(std::memory_order_acquire);
    if (*out != nullptr && (*out)->virtual_memory().owns(handle)) return Status::ok();
  }
  return {ACL_ERROR_RT_PARAM_INVALID, text("physical memory ", handle, " does not exist")};
}

Status Process::set_device(int32_t id) {
  Device* device_ptr = nullptr;
  SOFTNPU_RETURN_IF_ERROR(initialize_for_device());
  SOFTNPU_RETURN_IF_ERROR(device(id, &device_ptr));
  std::unique_lock lock(mutex_);
  Context*& primary = primary_[static_cast<size_t>(id)];
  if (primary == nullptr) primary = add_context(device_ptr);
  ++set_counts_[static_cast<size_t>(id)];
  current_context = primary;
  return Status::ok();
}

Context* Process::add_context(Device* device) {
  // Reserves room for destroy_context(), which must not fail.
  dead_contexts_.reserve(round_up(dead_contexts_.size() + contexts_.size() + 1, 64));
  auto context = std::make_unique<Context>(Context{device, nullptr, options_});
  Context* handle = context.get();
  auto entry = contexts_.emplace(handle, std::move(context)).first;
  try {
    handle->default_stream = device->new_stream({.context = handle});
  } catch (...) {
    contexts_.erase(entry);
    throw;
  }
  device->show_open(true);
  return handle;
}

Status Process::reset_device(int32_t id, bool force) {
  Device* device_ptr = nullptr;
  SOFTNPU_RETURN_IF_ERROR(device(id, &device_ptr));
  {
    std::unique_lock lock(mutex_);
    uint64_t& count = set_counts_[static_cast<size_t>(id)];
    if (!force && count > 1) {
      --count;
      return Status::ok();
    }
  }
  return release_device(id, device_ptr);
}

Status Process::release_device(int32_t id, Device* device_ptr) {
  std::vector<void (*)(int32_t)> listeners;
  {
    std::shared_lock lock(mutex_);
    listeners = reset_listeners_;
  }
  for (auto* listener : listeners) listener(id);
  Device::Streams streams;
  {
    std::unique_lock lock(mutex_);
    primary_[static_cast<size_t>(id)] = nullptr;
    set_counts_[static_cast<size_t>(id)] = 0;
    for (auto it = contexts_.begin(); it != contexts_.end();) {
      if (it->second->device != device_ptr) {
        ++it;
        continue;
      }
      dead_contexts_.push_back(std::move(it->second));
      it = contexts_.erase(it);
    }
    // Under the same lock as the contexts: another thread may set up the device again after this.
    streams = device_ptr->take_streams();
    device_ptr->show_open(false);
  }
  Device::end(streams);
  device_ptr->write_epochs().clear();
  MemoryBlocks::get().forget(device_ptr->region().base(), device_ptr->region().range());
  memory_listeners_.freed(device_ptr->region().base(), device_ptr->region().range());
  Sharing::Imports imports;
  device_ptr->reset([&] { imports = sharing_.take(*device_ptr); });
  imports.clear();  // after the addresses
  return Status::ok();
}

void Process::on_reset(void (*function)(int32_t id)) {
  std::unique_lock lock(mutex_);
  reset_listeners_.push_back(function);
}

Status Process::create_context(int32_t device_id, Context** out) {
  Device* device_ptr = nullptr;
  SOFTNPU_RETURN_IF_ERROR(initialize_for_device());
  SOFTNPU_RETURN_IF_ERROR(device(device_id, &device_ptr));
  std::unique_lock lock(mutex_);
  *out = add_context(device_ptr);
  current_context = *out;
  return Status::ok();
}

Status Process::destroy_context(Context* context) {
  {
    std::unique_lock lock(mutex_);
    auto it = contexts_.find(context);
    if (it == contexts_.end()) return {ACL_ERROR_RT_CONTEXT_NULL, text("context ", context, " does not exist")};
    for (Context*& primary : primary_) {
      if (primary == context) {
        return {ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                "a device's default context is destroyed by aclrtResetDevice, not by aclrtDestroyContext"};
      }
    }
    dead_contexts_.push_back(std::move(it->second));
    contexts_.erase(it);
  }
  if (current_context == context) current_context = nullptr;
  // A device reset may have removed it.
  std::shared_ptr<Stream> stream = context->device->find_stream(context->default_stream);
  if (!stream) return Status::ok();
  Status status = stream->synchronize(std::chrono::milliseconds(-1));
  context->device->forget_stream(context->default_stream);
  return status;
}

Status Process::set_current(Context* context) {
  std::shared_lock lock(mutex_);
  if (!owns(context)) return {ACL_ERROR_RT_CONTEXT_NULL, text("context ", context, " does not exist")};
  current_context = context;
  return Status::ok();
}

Status Process::current(Context** out) const {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(check_initialized());
  std::shared_lock lock(mutex_);
  if (current_context == nullptr || !owns(current_context)) {
    return {ACL_ERROR_RT_CONTEXT_NULL,
            "this thread has no device, or its context was destroyed: call aclrtSetDevice first"};
  }
  *out = current_context;
  return Status::ok();
}

bool Process::has_primary(int32_t device_id) const {
  std::shared_lock lock(mutex_);
  return primary_.at(static_cast<size_t>(device_id)) != nullptr;
}

bool Process::owns(const Context* context) const { return contexts_.contains(context); }

Status Process::create_stream(StreamConfig config, Stream** out) {
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(current(&context));
  config.context = context;
  *out = context->device->new_stream(config);
  return Status::ok();
}

Status Process::destroy_stream(void* handle, bool force) {
  std::shared_ptr<Stream> target;
  if (handle == nullptr) return {ACL_ERROR_RT_STREAM_CONTEXT, "the default stream cannot be destroyed"};
  SOFTNPU_RETURN_IF_ERROR(find_stream(handle, &target));
  if (force) {
    target->drop_capture();
    target->abandon();
  }
  SOFTNPU_RETURN_IF_ERROR(target->refuse_in_capture("the destruction of a stream", "end the capture first"));
  Status status = target->synchronize(std::chrono::milliseconds(-1));
  callback_queue_.forget(handle);
  if (!live_device(target->device())->forget_stream(handle)) {
    return {ACL_ERROR_RT_STREAM_CONTEXT, text("stream ", handle, " does not exist: another thread destroyed it")};
  }
  return force ? Status::ok() : status;
}

Status Process::stream(void* handle, std::shared_ptr<Stream>* out) const {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(check_initialized());
  if (handle == nullptr) {
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(current(&context));
    handle = context->default_stream;
  }
  return find_stream(handle, out);
}

Status Process::find_stream(void* handle, std::shared_ptr<Stream>* out) const {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  const uint64_t epoch = Device::stream_epoch();
  if (last_stream.epoch == epoch && last_stream.handle == handle) {
    *out = last_stream_holder.stream;
    return Status::ok();
  }
  for (const auto& slot : live_) {
    Device* device = slot.load(std::memory_order_acquire);
    if (device == nullptr) continue;
    *out = device->find_stream(handle);
    if (!*out) continue;
    if (!last_stream.is_over) {
      last_stream_holder.stream = *out;
      last_stream = {handle, epoch, false};
    }
    return Status::ok();
  }
  return {ACL_ERROR_RT_STREAM_CONTEXT, text("stream ", handle, " does not exist")};
}

Status Process::create_event(uint32_t flags, std::shared_ptr<SharedMark> mark, EventRecord** out) {
  Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(current(&context));
  auto record =
      std::make_unique<EventRecord>(EventRecord{std::make_shared<Event>(std::move(mark), &poller_), flags, context});
  *out = record.get();
  std::unique_lock lock(mutex_);
  events_.emplace(*out, std::move(record));
  return Status::ok();
}

Status Process::destroy_event(void* handle) {
  std::unique_lock lock(mutex_);
  if (events_.erase(handle) == 0) return {ACL_ERROR_RT_PARAM_INVALID, text("event ", handle, " does not exist")};
  return Status::ok();
}

Status Process::event(void* handle, EventRecord* out) const {
  SOFTNPU_RETURN_IF_ERROR(check_usable());
  SOFTNPU_RETURN_IF_ERROR(check_initialized());
  std::shared_lock lock(mutex_);
  auto it = events_.find(handle);
  if (it == events_.end()) return {ACL_ERROR_RT_PARAM_INVALID, text("event ", handle, " does not exist")};
  *out = *it->second;
  return Status::ok();
}

void Process::stop() {
  if (forked_) return;
  // If a program's function ends the process on one of these threads, threads that wait for a stream keep waiting:
  // otherwise main could return and end the process with another exit code.
  const bool wakes_waiters = !is_own_thread;
  for (const auto& slot : live_) {
    if (Device* device = slot.load(std::memory_order_acquire)) device->stop(wakes_waiters);
  }
  host_thread_.stop();
  poller_.stop();
  exports_.stop();
}

}  // namespace softnpu
