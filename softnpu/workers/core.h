#pragma once
// The core that a woken thread begins on.

#include <sched.h>
#include <sys/types.h>

namespace softnpu {

// A thread that sleeps, and the cores that it may run on. Its waker steers it away from its own core: on a virtual
// machine a core that rests looks as if it was taken, so that Linux puts a woken thread beside its waker and lets the
// two take turns for milliseconds.
class SteeredThread {
 public:
  SteeredThread() noexcept;  // the calling thread

  // Called by the waker, while the thread sleeps.
  void steer() noexcept;
  // Called by the thread when it is awake: it may run everywhere again.
  void release() noexcept;

 private:
  pid_t id_;
  cpu_set_t allowed_{};
  bool is_steered_ = false;
};

}  // namespace softnpu
