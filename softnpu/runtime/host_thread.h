#pragma once
// Runs functions of the program that a stream has reached (aclrtLaunchHostFunc), one after another, so that they keep
// no device waiting.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace softnpu {

class HostThread {
 public:
  HostThread() = default;
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  ~HostThread() { stop(); }

  // The thread starts with the first one; after stop() nothing runs any more.
  void post(std::function<void()> function);

  // Lets the running function end and joins the thread, if it is not the caller itself. Idempotent.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  std::deque<std::function<void()>> functions_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
