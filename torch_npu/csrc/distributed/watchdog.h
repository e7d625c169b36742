#pragma once
// A thread for each process group: finds collectives that failed or are overdue.

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "distributed/flight.h"

namespace torch_npu {

class Watchdog {
 public:
  // `find_error` returns the communicators' error, if any; `on_failure` is called once for each flight that an error of
  // them or its time-out ends. Both run on the thread.
  Watchdog(std::function<std::string()> find_error, std::function<void(const std::string&)> on_failure)
      : find_error_(std::move(find_error)), on_failure_(std::move(on_failure)) {}
  ~Watchdog() { stop(); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // The first flight starts the thread.
  void watch(std::shared_ptr<Flight> flight);
  // Waits until every flight has ended or failed.
  void wait_for_flights();
  // Ends the thread; flights are no longer watched.
  void stop();

 private:
  void run();
  // The failure that it finds now; empty if there is none.
  std::string failure_of(Flight& flight);

  std::function<std::string()> find_error_;
  std::function<void(const std::string&)> on_failure_;
  std::mutex mutex_;  // guards the list, the flag and the thread
  std::condition_variable changed_;
  std::list<std::shared_ptr<Flight>> flights_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace torch_npu
