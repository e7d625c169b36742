#include "distributed/watchdog.h"

#include <pthread.h>

#include <chrono>
#include <utility>

namespace torch_npu {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

void Watchdog::watch(std::shared_ptr<Flight> flight) {
  std::lock_guard lock(mutex_);
  if (stops_) return;
  flights_.push_back(std::move(flight));
  if (!thread_.joinable()) {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "hccl_watchdog");
  }
  if (flights_.size() == 1) changed_.notify_all();
}

void Watchdog::wait_for_flights() {
  std::list<std::shared_ptr<Flight>> flights;
  {
    std::lock_guard lock(mutex_);
    flights = flights_;
  }
  for (const auto& flight : flights) {
    while (!flight->is_over() && flight->error() == nullptr && !flight->is_overdue()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
}

void Watchdog::stop() {
  std::thread ended;
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
    ended = std::move(thread_);
  }
  changed_.notify_all();
  if (!ended.joinable()) return;
  if (ended.get_id() == std::this_thread::get_id()) {
    ended.detach();
  } else {
    ended.join();
  }
}

std::string Watchdog::failure_of(Flight& flight) {
  if (flight.is_over() || flight.error() != nullptr) return {};
  std::string failure;
  if (const std::string error = find_error_(); !error.empty()) {
    failure = flight.text + " failed: " + error;
  } else if (flight.is_overdue()) {
    failure = flight.overdue_message();
  }
  if (!failure.empty()) flight.fail(failure);
  return failure;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    if (flights_.empty()) changed_.wait(lock, [this] { return stops_ || !flights_.empty(); });
    changed_.wait_for(lock, kInterval, [this] { return stops_; });
    // Only this thread removes flights, so that `location` stays while the lock is free.
    for (auto location = flights_.begin(); !stops_ && location != flights_.end();) {
      const std::shared_ptr<Flight> flight = *location;
      lock.unlock();
      if (const std::string failure = failure_of(*flight); !failure.empty()) on_failure_(failure);
      const bool has_ended = flight->is_over() || flight->error() != nullptr;
      lock.lock();
      location = has_ended ? flights_.erase(location) : std::next(location);
    }
  }
}

}  // namespace torch_npu
