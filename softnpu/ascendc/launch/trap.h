#pragma once
// Runs a kernel so that a signal that it raises, or that stops it, ends only the kernel.

#include <sys/types.h>

#include <string>

namespace softnpu::kernel {

// Before the first kernel: installs the handlers of the process. Signals of other threads, and outside of kernels, go
// to the handlers that were there before. False where the system refuses.
bool install_trap();

// Gives the calling thread a stack for handlers, so that they run after a stack overflow. Its owner outlives the
// thread's kernels.
class TrapStack {
 public:
  TrapStack();
  TrapStack(const TrapStack&) = delete;
  TrapStack& operator=(const TrapStack&) = delete;
  ~TrapStack();

 private:
  void* memory_;
};

using TrappedCall = void (*)(void* context);

// Calls `call`, whose code is in the same library as `code`. Empty, or which signal ended it; then nothing of its
// frames was unwound.
std::string run_trapped(const void* code, TrappedCall call, void* context);

template <typename Body>
std::string run_trapped(const void* code, Body body) {
  return run_trapped(
      code, [](void* context) { (*static_cast<Body*>(context))(); }, &body);
}

// Ends the kernel that `thread` (of this process, by its kernel id) runs as soon as it is in its own library's code.
// Does nothing while it runs none.
void stop_trapped(pid_t thread);

}  // namespace softnpu::kernel
