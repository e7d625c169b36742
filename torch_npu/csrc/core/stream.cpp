#include "core/stream.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "core/acl.h"
#include "core/device.h"

namespace torch_npu {
namespace {

constexpr c10::StreamId kPoolSize = 32;

struct StreamTable {
  std::mutex mutex;  // guards the making of a stream
  std::array<std::atomic<aclrtStream>, kPoolSize + 1> handles{};
  std::atomic<uint32_t> next{0};
};

StreamTable& table(c10::DeviceIndex device) {
  static auto& tables =
      *std::make_unique<std::array<StreamTable, kMaxDevices>>().release();  // used until the very end of the process
  return tables[static_cast<std::size_t>(device)];
}

thread_local std::array<c10::StreamId, kMaxDevices> current{};

c10::Stream make(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::PrivateUse1, device), id);
}

aclrtStream handle(c10::DeviceIndex device, c10::StreamId id) {
  TORCH_CHECK(id >= 0 && id <= kPoolSize, "npu stream ", id, " does not exist");
  StreamTable& t = table(device);
  auto& slot = t.handles[static_cast<std::size_t>(id)];
  aclrtStream found = slot.load(std::memory_order_acquire);
  if (C10_LIKELY(found != nullptr)) return found;
  bind_device(device);
  std::lock_guard lock(t.mutex);
  found = slot.load(std::memory_order_relaxed);
  if (found == nullptr) {
    acl_check(aclrtCreateStream(&found), "aclrtCreateStream");
    slot.store(found, std::memory_order_release);
  }
  return found;
}

}  // namespace

c10::Stream default_stream(c10::DeviceIndex device) { return make(checked_device(device), 0); }

c10::Stream stream_from_pool(c10::DeviceIndex device) {
  device = checked_device(device);
  return make(device, 1 + table(device).next.fetch_add(1, std::memory_order_relaxed) % kPoolSize);
}

c10::Stream current_stream(c10::DeviceIndex device) {
  device = checked_device(device);
  return make(device, current[static_cast<std::size_t>(device)]);
}

void set_current_stream(c10::Stream stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "expected an npu stream, got one of ",
              stream.device());
  current[static_cast<std::size_t>(checked_device(stream.device_index()))] = stream.id();
}

aclrtStream stream_handle(c10::Stream stream) { return handle(checked_device(stream.device_index()), stream.id()); }

bool query_stream(c10::Stream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  acl_check(aclrtStreamQuery(stream_handle(stream), &status), "aclrtStreamQuery");
  return status == ACL_STREAM_STATUS_COMPLETE;
}

void synchronize_stream(c10::Stream stream) {
  acl_check(aclrtSynchronizeStream(stream_handle(stream)), "aclrtSynchronizeStream");
}

void wait_for_current_stream(c10::DeviceIndex device) {
  StreamTable& t = table(device);
  aclrtStream handle =
      t.handles[static_cast<std::size_t>(current[static_cast<std::size_t>(device)])].load(std::memory_order_acquire);
  if (handle == nullptr) return;  // nothing was ever enqueued on it
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  acl_check(aclrtStreamQuery(handle, &status), "aclrtStreamQuery");
  if (status != ACL_STREAM_STATUS_COMPLETE) acl_check(aclrtSynchronizeStream(handle), "aclrtSynchronizeStream");
}

}  // namespace torch_npu
