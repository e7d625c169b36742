#include "runtime/device.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "runtime/config.h"
#include "runtime/memory/address_lock.h"
#include "runtime/memory/limits.h"
#include "runtime/status_page.h"

namespace softnpu {
namespace {

// Reserved addresses for mappings, as a multiple of the device memory. Reserving costs nothing.
constexpr size_t kWindowFactor = 32;

// Maps the memory and reserves addresses for mappings after it. Halves the reservation until it fits the process's
// address limit, down to the memory's size, then to none.
Status map(Region* region, int32_t id, size_t capacity) {
  const size_t memory = Heap::region_size(capacity);
  const bool protect = config().protect;
  // Leaves addresses for the program and its libraries.
  const size_t room = usable_addresses() / 4 * 3 / (protect ? 2 : 1);
  size_t window = kWindowFactor * capacity;
  const auto halve = [&] { window = window / 2 < capacity ? 0 : window / 2; };
  while (window > 0 && (memory > room || window > room - memory)) halve();
  Status status = region->map(memory, window, protect);
  while (!status.is_ok() && window > 0) {
    halve();
    status = region->map(memory, window, protect);
  }
  if (status.is_ok() && window < kWindowFactor * capacity) {
    log(ACL_WARNING, "runtime",
        text("device ", id, " reserves ", window, " bytes of addresses for mappings instead of ",
             kWindowFactor * capacity, ": the process may map no more (ulimit -v)"));
  }
  return status;
}

}  // namespace

Status Device::create(int32_t id, std::unique_ptr<Device>* out) {
  auto region = std::make_unique<Region>();
  const size_t capacity = config().hbm_bytes;
  SOFTNPU_RETURN_IF_ERROR(map(region.get(), id, capacity));
  // Not make_unique: the constructor is private, so that every device has its memory.
  DeviceStatus& shown = StatusPage::get().device(id);
  shown.number.store(static_cast<uint32_t>(config().devices.at(static_cast<size_t>(id))), std::memory_order_relaxed);
  shown.capacity.store(capacity, std::memory_order_relaxed);
  out->reset(new Device(id, std::move(region), capacity, &shown));
  return Status::ok();
}

Device::~Device() { stop(true); }

bool Device::find(const void* address, Allocation* out) const {
  return address < region_->window() ? heap_.find(address, out) : virtual_memory_.find(address, out);
}

bool Device::last_write_epoch(const void* address, size_t bytes, uint64_t* epoch) const {
  Allocation allocation;
  if (!find(address, &allocation) || !allocation.holds(address, bytes)) return false;
  if (address >= region_->window() && !virtual_memory_.is_private(address, bytes)) return false;
  *epoch = write_epochs_.epoch(address, bytes);
  return *epoch != WriteEpochs::kUnknown;
}

int32_t Device::utilization() {
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto busy = executor_.busy();
  const double passed = std::chrono::duration<double>(now - asked_).count();
  const double worked = std::chrono::duration<double>(busy - busy_then_).count();
  asked_ = now;
  busy_then_ = busy;
  return passed <= 0 ? 0 : std::clamp(static_cast<int32_t>(100 * worked / passed), 0, 100);
}

Stream* Device::new_stream(StreamConfig config) {
  std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>(&executor_, id_, next_stream_++, config);
  Stream* handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

std::shared_ptr<Stream> Device::find_stream(const void* handle) const {
  std::lock_guard lock(mutex_);
  auto it = streams_.find(handle);
  return it == streams_.end() ? nullptr : it->second;
}

bool Device::forget_stream(const void* handle) {
  std::lock_guard lock(mutex_);
  if (streams_.erase(handle) == 0) return false;
  stream_epoch_.fetch_add(1, std::memory_order_release);
  return true;
}

Status Device::synchronize(std::chrono::milliseconds timeout) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    for (auto& [handle, stream] : streams_) streams.push_back(stream);
  }
  Status first;
  for (auto& stream : streams) {
    Status status = stream->synchronize(timeout);
    const bool is_busy = is_unfinished(status.code());
    if (first.is_ok()) first = std::move(status);
    if (is_busy) break;  // the errors of the other streams remain for the next wait
  }
  return first;
}

bool Device::abort(std::chrono::steady_clock::time_point end) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    for (auto& [handle, stream] : streams_) streams.push_back(stream);
  }
  const Status reason(ACL_ERROR_RT_DEVICE_TASK_ABORT, "aclrtDeviceTaskAbort dropped work that had not begun");
  for (auto& stream : streams) stream->abandon(reason);
  return std::ranges::all_of(streams, [&](auto& stream) { return stream->drained(end); });
}

Device::Streams Device::take_streams() {
  std::lock_guard lock(mutex_);
  Streams taken = std::exchange(streams_, {});
  stream_epoch_.fetch_add(1, std::memory_order_release);
  return taken;
}

void Device::end(const Streams& streams) {
  for (auto& [handle, stream] : streams) {
    stream->drop_capture();
    stream->abandon();
    // The running task finishes, even if it is overdue. Its error is dropped.
    stream->drained(kNever);
  }
}

void Device::reset(const std::function<void()>& drop) {
  const AddressChange change;
  resets_.fetch_add(1, std::memory_order_release);
  drop();
  virtual_memory_.clear();
  heap_.clear();
}

void Device::stop(bool wakes_waiters) {
  executor_.stop();
  if (!wakes_waiters) return;
  std::lock_guard lock(mutex_);
  for (auto& [handle, stream] : streams_) stream->abandon();
}

}  // namespace softnpu
