#pragma once
// Chooses the core on which a woken thread starts.

#include <sched.h>
#include <sys/types.h>

namespace softnpu {

// A sleeping thread and the cores that it may run on. The waker excludes its own core: on a virtual machine an idle
// core looks busy, so that Linux would wake the thread on the waker's core, and both would share it for milliseconds.
class __attribute__((visibility("default"))) SteeredThread {
 public:
  SteeredThread() noexcept;  // the calling thread

  // Called by the waker, while the thread sleeps.
  void steer() noexcept;
  // Called by the thread after waking: it may run on all cores again.
  void release() noexcept;

 private:
  pid_t id_;
  cpu_set_t allowed_{};
  bool is_steered_ = false;
};

}  // namespace softnpu
