#include "core/stream.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "core/acl.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/environment.h"
#include "core/overflow.h"
#include "core/program_lines.h"
#include "core/special_streams.h"
#include "core/task_queue.h"
#include "core/wait.h"

namespace torch_npu {

struct StreamSlot {
  std::atomic<aclrtStream> handle{nullptr};
  // The handle was exposed, so that code outside of this plug-in may have enqueued work.
  std::atomic<bool> is_shared{false};
  std::atomic<uint64_t> enqueued{0};  // incremented after each call that enqueues
  std::atomic<uint64_t> finished{0};  // the value of `enqueued` up to which work is known to be done
};

namespace {

// The most streams of one priority.
constexpr c10::StreamId kPoolSize = 32;
constexpr c10::StreamId kSyncLaunchStreams = 4;
constexpr std::size_t kPriorities = 1 - kGreatestPriority;
// Ids after the pools': streams that bypass the task queue, then handles of the program.
constexpr c10::StreamId kFirstSyncLaunch = 1 + kPoolSize * static_cast<c10::StreamId>(kPriorities);
constexpr c10::StreamId kFirstExternal = kFirstSyncLaunch + kSyncLaunchStreams;
constexpr c10::StreamId kStreams = kFirstExternal + 512;

struct StreamTable {
  std::mutex mutex;  // guards the creation of streams
  std::array<StreamSlot, kStreams> slots{};
  std::array<std::atomic<uint32_t>, kPriorities> next{};  // per pool
  std::atomic<uint32_t> next_sync_launch{0};
  std::atomic<c10::StreamId> next_external{kFirstExternal};  // written under mutex
  std::atomic<bool> stopped{false};
};

// The index of a stream's pool: its priority without the sign.
std::size_t pool_of(c10::StreamId id) {
  return id == 0 || id >= kFirstSyncLaunch ? 0 : static_cast<std::size_t>((id - 1) / kPoolSize);
}

// The runtime counts in the opposite direction: 0 is the most urgent.
uint32_t runtime_priority(c10::StreamId id) { return static_cast<uint32_t>(kPriorities - 1 - pool_of(id)); }

StreamTable& table(c10::DeviceIndex device) {
  static auto& tables =
      *std::make_unique<std::array<StreamTable, kMaxDevices>>().release();  // used until the end of the process
  return tables[static_cast<std::size_t>(device)];
}

thread_local std::array<c10::StreamId, kMaxDevices> current_ids{};

std::atomic<uint64_t> waits{0};

// STREAMS_PER_DEVICE: how many streams of each priority are in use.
c10::StreamId pool_size() {
  constexpr c10::StreamId kFew = 8;
  static const c10::StreamId size = value_or_warn(environment::choice("STREAMS_PER_DEVICE")) == "8" ? kFew : kPoolSize;
  return size;
}

StreamSlot& slot_of(c10::DeviceIndex device, c10::StreamId id) {
  TORCH_CHECK(id >= 0 && id < table(device).next_external.load(std::memory_order_relaxed), "npu stream ", id,
              " does not exist");
  return table(device).slots[static_cast<std::size_t>(id)];
}

StreamSlot& slot_of(c10::Stream stream) { return slot_of(checked_device(stream.device_index()), stream.id()); }

aclrtStream handle(StreamSlot& slot, c10::Stream stream) {
  const c10::DeviceIndex device = stream.device_index();
  check_not_reset(device);
  TORCH_CHECK(!table(device).stopped.load(std::memory_order_relaxed), "FORCE STOP. npu:", static_cast<int>(device),
              " was stopped by torch.npu.stop_device and takes no work until torch.npu.restart_device(",
              static_cast<int>(device), ")");
  aclrtStream found = slot.handle.load(std::memory_order_acquire);
  if (C10_LIKELY(found != nullptr)) return found;
  bind_device(device);
  std::lock_guard lock(table(device).mutex);
  found = slot.handle.load(std::memory_order_relaxed);
  if (found == nullptr) {
    acl_check(aclrtCreateStreamWithConfig(&found, runtime_priority(stream.id()), 0), "aclrtCreateStreamWithConfig");
    apply_overflow_check(found);
    slot.handle.store(found, std::memory_order_release);
  }
  return found;
}

aclrtStream handle(c10::Stream stream) { return handle(slot_of(stream), stream); }

}  // namespace

c10::Stream npu_stream(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, npu_device(device), id);
}

c10::Stream default_stream(c10::DeviceIndex device) { return npu_stream(checked_device(device), 0); }

c10::Stream stream_from_pool(c10::DeviceIndex device, int priority) {
  device = checked_device(device);
  const auto pool = static_cast<std::size_t>(-std::clamp(priority, kGreatestPriority, 0));
  const uint32_t next = table(device).next[pool].fetch_add(1, std::memory_order_relaxed);
  return npu_stream(device, 1 + static_cast<c10::StreamId>(pool) * kPoolSize + next % pool_size());
}

int stream_priority(c10::Stream stream) {
  slot_of(stream);  // checks that it exists
  return -static_cast<int>(pool_of(stream.id()));
}

c10::Stream external_stream(c10::DeviceIndex device, aclrtStream handle) {
  device = checked_device(device);
  TORCH_CHECK(handle != nullptr, "an external stream needs the handle of a stream");
  bind_device(device);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  acl_check(aclrtStreamQuery(handle, &status), "aclrtStreamQuery");  // an unknown handle fails here
  StreamTable& streams = table(device);
  std::lock_guard lock(streams.mutex);
  const c10::StreamId next = streams.next_external.load(std::memory_order_relaxed);
  for (c10::StreamId id = 0; id < next; ++id) {
    if (streams.slots[static_cast<std::size_t>(id)].handle.load(std::memory_order_relaxed) == handle) {
      return npu_stream(device, id);
    }
  }
  TORCH_CHECK(next < kStreams, "npu:", static_cast<int>(device), " has ", kStreams - kFirstExternal,
              " external streams, which is the maximum");
  StreamSlot& slot = streams.slots[static_cast<std::size_t>(next)];
  slot.is_shared.store(true, std::memory_order_relaxed);
  slot.handle.store(handle, std::memory_order_release);
  streams.next_external.store(next + 1, std::memory_order_relaxed);
  return npu_stream(device, next);
}

c10::Stream sync_launch_stream(c10::DeviceIndex device) {
  device = checked_device(device);
  const uint32_t next = table(device).next_sync_launch.fetch_add(1, std::memory_order_relaxed);
  return npu_stream(device, kFirstSyncLaunch + next % kSyncLaunchStreams);
}

bool is_sync_launch(c10::Stream stream) noexcept {
  return stream.id() >= kFirstSyncLaunch && stream.id() < kFirstExternal;
}

void stop_device(c10::DeviceIndex device) {
  device = checked_device(device);
  bind_device(device);
  drain_launches(device);
  table(device).stopped = true;
  acl_check(aclrtDeviceTaskAbort(device, 0), "aclrtDeviceTaskAbort");
}

void restart_device(c10::DeviceIndex device) {
  device = checked_device(device);
  bind_device(device);
  StreamTable& streams = table(device);
  for (StreamSlot& slot : streams.slots) {
    aclrtStream handle = slot.handle.load(std::memory_order_acquire);
    // Each stream reports once that its work was dropped.
    if (handle != nullptr && aclrtSynchronizeStream(handle) != ACL_SUCCESS) (void)aclGetRecentErrMsg();
  }
  streams.stopped = false;
}

c10::Stream current_stream(c10::DeviceIndex device) {
  device = checked_device(device);
  return npu_stream(device, current_ids[static_cast<std::size_t>(device)]);
}

void set_current_stream(c10::Stream stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "expected an npu stream, got one of ",
              stream.device());
  current_ids[static_cast<std::size_t>(checked_device(stream.device_index()))] = stream.id();
}

aclrtStream runtime_handle(c10::Stream stream) {
  drain_launches(checked_device(stream.device_index()));
  return handle(stream);
}

aclrtStream stream_handle(c10::Stream stream) {
  drain_launches(checked_device(stream.device_index()));
  slot_of(stream).is_shared.store(true, std::memory_order_release);
  return handle(stream);
}

Enqueue::Enqueue(c10::Stream stream, FromQueue) : slot_(slot_of(stream)), handle_(torch_npu::handle(slot_, stream)) {}

Enqueue::Enqueue(c10::Stream stream) : Enqueue(stream, kFromQueue) { drain_launches(stream.device_index()); }

Enqueue::~Enqueue() { slot_.enqueued.fetch_add(1, std::memory_order_release); }

bool query_stream(c10::Stream stream) {
  drain_launches(checked_device(stream.device_index()));
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  acl_check(aclrtStreamQuery(handle(stream), &status), "aclrtStreamQuery");
  return status == ACL_STREAM_STATUS_COMPLETE;
}

bool is_busy(c10::Stream stream) noexcept {
  const StreamSlot& slot = table(stream.device_index()).slots[static_cast<std::size_t>(stream.id())];
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  return aclrtStreamQuery(slot.handle.load(std::memory_order_acquire), &status) == ACL_SUCCESS &&
         status != ACL_STREAM_STATUS_COMPLETE;
}

bool is_any_busy(c10::DeviceIndex device) noexcept {
  for (c10::StreamId id = 0; id < kStreams; ++id) {
    const StreamSlot& slot = table(device).slots[static_cast<std::size_t>(id)];
    if (slot.handle.load(std::memory_order_acquire) != nullptr && is_busy(npu_stream(device, id))) return true;
  }
  return false;
}

void wait_until_idle(c10::DeviceIndex device) noexcept {
  count_synchronization();
  drain_launches(device);
  for (c10::StreamId id = 0; id < kStreams; ++id) {
    const c10::Stream stream = npu_stream(device, id);
    const StreamSlot& slot = table(device).slots[static_cast<std::size_t>(id)];
    if (slot.handle.load(std::memory_order_acquire) == nullptr) continue;
    const auto start = std::chrono::steady_clock::now();
    while (is_busy(stream)) pause_since(start);
  }
}

uint64_t synchronizations() noexcept { return waits.load(std::memory_order_relaxed); }
void count_synchronization() noexcept { waits.fetch_add(1, std::memory_order_relaxed); }

void synchronize_stream(c10::Stream stream) {
  check_launches(checked_device(stream.device_index()));
  count_synchronization();
  const program_lines::Waiting waiting;
  acl_check(aclrtSynchronizeStreamWithTimeout(handle(stream), stream_wait_limit()), "aclrtSynchronizeStream");
}

namespace {

void wait_for_handle(aclrtStream handle) {
  count_synchronization();
  const program_lines::Waiting waiting;
  wait_interruptibly("aclrtSynchronizeStream", stream_wait_limit(),
                     [handle](int32_t ms) { return aclrtSynchronizeStreamWithTimeout(handle, ms); });
}

}  // namespace

void wait_for_stream(c10::Stream stream) {
  check_launches(checked_device(stream.device_index()));
  wait_for_handle(handle(stream));
}

void discard(c10::Stream stream, const void* address, std::size_t nbytes) noexcept {
  using Discard = aclError (*)(aclrtStream, const void*, std::size_t);
  // For smaller blocks storing the value is as fast.
  constexpr std::size_t kMinBytes = std::size_t{64} << 10;
  static const auto tell = reinterpret_cast<Discard>(bound_symbol("softnpuOutputDead"));
  if (tell == nullptr || nbytes < kMinBytes || task_queue_level() != 0) return;
  const StreamSlot& slot = table(stream.device_index()).slots[static_cast<std::size_t>(stream.id())];
  const aclrtStream handle = slot.handle.load(std::memory_order_acquire);
  // At the end of the process a destroyed stream has no queued work.
  if (handle != nullptr) static_cast<void>(tell(handle, address, nbytes));
}

void wait_for_current_stream(c10::DeviceIndex device) {
  check_launches(device);
  refuse_in_capture(device, "a wait of the host", "nothing runs before the graph is replayed.");
  StreamSlot& slot = slot_of(device, current_ids[static_cast<std::size_t>(device)]);
  const uint64_t enqueued = slot.enqueued.load(std::memory_order_acquire);
  const bool is_shared = slot.is_shared.load(std::memory_order_acquire);
  if (C10_LIKELY(!is_shared && slot.finished.load(std::memory_order_acquire) == enqueued)) return;
  aclrtStream handle = slot.handle.load(std::memory_order_acquire);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  acl_check(aclrtStreamQuery(handle, &status), "aclrtStreamQuery");
  // Errors of completed work also wait for the synchronisation.
  if (status != ACL_STREAM_STATUS_COMPLETE || !is_shared) {
    wait_for_handle(handle);
  }
  slot.finished.store(enqueued, std::memory_order_release);
}

}  // namespace torch_npu
