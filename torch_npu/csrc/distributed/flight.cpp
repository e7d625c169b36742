#include "distributed/flight.h"

#include <c10/util/Exception.h>

#include "core/acl.h"

namespace torch_npu {

bool Flight::is_over() {
  if (is_over_.load(std::memory_order_acquire)) return true;
  try {
    for (const FlightEnd& end : ends) {
      if (!end.event->query()) return error() != nullptr;
    }
  } catch (const std::exception& failure) {
    fail(c10::str(text, " failed: ", failure.what()));
  }
  is_over_.store(true, std::memory_order_release);
  return true;
}

void Flight::fail(const std::string& message) noexcept {
  std::lock_guard lock(mutex_);
  if (error_ != nullptr) return;
  try {
    TORCH_CHECK_WITH(DistBackendError, false, message);
  } catch (...) {
    error_ = std::current_exception();
  }
}

std::exception_ptr Flight::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

std::string Flight::overdue_message() const {
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  return c10::str("Watchdog caught collective operation timeout: ", text, "; with a time-out of ", timeout.count(),
                  " ms it ran for ", elapsed.count(), " ms", error_tail("ERR02011", "DIST timeout"));
}

}  // namespace torch_npu
