#include "core/wait.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <utility>

#include "core/acl.h"
#include "core/environment.h"
#include "core/options.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

constexpr int32_t kSliceMs = 100;

std::atomic<void (*)()> interrupt_check{nullptr};

// Used at the end of the process, by one thread.
std::string final_failure;
bool has_failed = false;

void end_with_failure(int status, void*) {
  if (!has_failed || status != 0) return;
  std::fflush(nullptr);
  _exit(1);
}

std::string newest_failure(const char* call) {
  const char* message = aclGetRecentErrMsg();
  return with_hint(message == nullptr ? c10::str(call, " failed") : message);
}

}  // namespace

void set_interrupt_check(void (*check)()) { interrupt_check.store(check, std::memory_order_relaxed); }

int32_t stream_wait_limit() {
  static const int32_t limit = [] {
    const int64_t ms = std::strtoll(environment::text("ACL_STREAM_TIMEOUT").c_str(), nullptr, 10);
    return ms <= 0 ? kNoLimit : static_cast<int32_t>(std::min<int64_t>(ms, std::numeric_limits<int32_t>::max()));
  }();
  return limit;
}

int32_t device_wait_limit() {
  static const int32_t limit = [] {
    const std::string value = environment::text("ACL_DEVICE_SYNC_TIMEOUT");
    if (value.empty()) return kNoLimit;
    const int64_t seconds = std::strtoll(value.c_str(), nullptr, 10);
    TORCH_CHECK(seconds > 0, "ACL_DEVICE_SYNC_TIMEOUT must be positive: it is ", value, ", a number of seconds",
                error_tail("ERR00003", "PTA invalid value"));
    constexpr int32_t kMs = 1000;
    return static_cast<int32_t>(std::min<int64_t>(seconds, std::numeric_limits<int32_t>::max() / kMs)) * kMs;
  }();
  return limit;
}

void wait_interruptibly(const char* call, int32_t limit, c10::function_ref<aclError(int32_t)> wait) {
  for (int32_t left = limit;;) {
    const int32_t slice = limit == kNoLimit ? kSliceMs : std::min(left, kSliceMs);
    const aclError code = wait(slice);
    left -= slice;
    const bool ends = limit != kNoLimit && left <= 0;
    if (C10_LIKELY(code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) || ends) return acl_check(code, call);
    (void)aclGetRecentErrMsg();  // the end of a time slice is no error
    if (auto* check = interrupt_check.load(std::memory_order_relaxed)) check();
  }
}

bool in_callback() noexcept {
  static const auto ask = reinterpret_cast<int32_t (*)()>(bound_symbol("softnpuInCallback"));
  return ask != nullptr && ask() != 0;
}

void pause_since(std::chrono::steady_clock::time_point start) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kLongest = std::chrono::milliseconds(1);
  const auto pause = std::min((Clock::now() - start) / 16, kLongest);
  if (pause < std::chrono::microseconds(5)) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(pause);
  }
}

void wait_for_event(aclrtEvent event) {
  using Clock = std::chrono::steady_clock;
  // The runtime's wait for events has no time-out.
  const auto start = Clock::now();
  auto next_check = start + std::chrono::milliseconds(kSliceMs);
  for (;;) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    acl_check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
    if (status == ACL_EVENT_RECORDED_STATUS_COMPLETE) break;
    const auto now = Clock::now();
    // Overdue work is only detected by the runtime's own wait, which Ctrl-C does not end.
    const auto limit = std::chrono::milliseconds(operator_timeout());
    if (limit.count() > 0 && now - start > limit) break;
    if (now >= next_check) {
      if (auto* check = interrupt_check.load(std::memory_order_relaxed)) check();
      next_check = now + std::chrono::milliseconds(kSliceMs);
    }
    pause_since(start);
  }
  acl_check(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
}

void keep_final_failure() noexcept {
  try {
    if (final_failure.empty()) final_failure = newest_failure("the last wait of the process");
  } catch (...) {
    final_failure = "";  // no memory for the text: only the code
  }
  has_failed = true;
}

std::string take_final_failure() {
  if (has_failed) {
    // Registered last, so that it runs before other handlers.
    on_exit(&end_with_failure, nullptr);
  }
  return std::exchange(final_failure, {});
}

}  // namespace torch_npu
