#pragma once
// Polls conditions that have no notification: values in memory, events of other processes. One thread polls them all,
// often at first and then every millisecond.

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace softnpu {

class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller() { stop(); }

  // Polls `done`, which must not throw, until it returns true. The first call starts the thread.
  void watch(std::function<bool()> done);

  // Drops all conditions and joins the thread. Idempotent.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards all members below
  std::condition_variable arrived_;
  std::list<std::function<bool()>> arrivals_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
