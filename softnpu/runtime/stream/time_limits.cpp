#include "runtime/stream/time_limits.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "runtime/process.h"
#include "runtime/stream/event.h"
#include "runtime/stream/stream.h"

namespace softnpu {
namespace {

using std::chrono::microseconds;

// One per process, as in the ABI; any thread.
std::atomic<microseconds> execute_limit{TimeLimits::kForever};
std::atomic<microseconds> wait_limit{TimeLimits::kForever};

// The longest limit: a later point in time may overflow its type.
constexpr microseconds kMax = std::chrono::hours(24 * 365);

microseconds bounded(microseconds limit) {
  return limit <= microseconds::zero() || limit > kMax ? TimeLimits::kForever : limit;
}

std::shared_ptr<Stream> find_stream(const void* handle) {
  for (int32_t id = 0; handle != nullptr && id < Process::kMaxDevices; ++id) {
    const Device* device = Process::get().live_device(id);
    if (auto stream = device == nullptr ? nullptr : device->find_stream(handle)) return stream;
  }
  return nullptr;
}

}  // namespace

microseconds TimeLimits::pause() const {
  return std::clamp(std::min(execute, wait) / 8, microseconds(200), microseconds(50'000));
}

TimeLimits time_limits() {
  return {execute_limit.load(std::memory_order_relaxed), wait_limit.load(std::memory_order_relaxed)};
}

void set_execute_limit(microseconds limit) { execute_limit.store(bounded(limit), std::memory_order_relaxed); }
void set_wait_limit(microseconds limit) { wait_limit.store(bounded(limit), std::memory_order_relaxed); }

void leave_overdue(const TimeLimits& limits) {
  if (limits.execute == TimeLimits::kForever) return;
  for (int32_t id = 0; id < Process::kMaxDevices; ++id) {
    if (Device* device = Process::get().live_device(id)) device->leave_overdue(limits.execute);
  }
}

Status overdue(const Event& event, uint64_t generation, const TimeLimits& limits) {
  const auto stream = find_stream(event.recorder(generation));
  return stream == nullptr ? Status::ok() : overdue(*stream, limits);
}

Status overdue(const Stream& stream, const TimeLimits& limits) {
  constexpr int kLongestChain = 64;
  const Stream* at = &stream;
  std::shared_ptr<Stream> held;
  for (int i = 0; i < kLongestChain; ++i) {
    SOFTNPU_RETURN_IF_ERROR(at->own_overdue(limits));
    const auto [event, generation] = at->parked_on();
    auto next = event == nullptr ? nullptr : find_stream(event->recorder(generation));
    if (next == nullptr) break;
    held = std::move(next);
    at = held.get();
  }
  return Status::ok();
}

}  // namespace softnpu
