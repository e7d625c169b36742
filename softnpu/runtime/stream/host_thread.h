#pragma once
// Runs the program's functions that a stream has reached (aclrtLaunchHostFunc), one at a time, on a thread that no
// device waits for.

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

  // The first call starts the thread. Does nothing after stop().
  void post(std::function<void()> function);

  // Waits for the running function and joins the thread, unless the caller is that thread. Idempotent.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards all members below
  std::condition_variable posted_;
  std::deque<std::function<void()>> functions_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
