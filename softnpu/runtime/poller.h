#pragma once
// Waits for what nobody announces: values in memory, events of other processes. One thread looks at them in turn, often
// at first and then every millisecond.

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

  // Calls `done`, which does not throw, from time to time until it returns true. The thread starts with the first one.
  void watch(std::function<bool()> done);

  // Forgets everything and joins the thread. Idempotent.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards all below
  std::condition_variable arrived_;
  std::list<std::function<bool()>> arrivals_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
