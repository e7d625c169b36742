#pragma once
// The thread that serves the rendezvous that this process opened (HcclGetRootInfo, sub-communicators).

#include <chrono>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "ccl/rendezvous.h"
#include "ccl/wakeup_thread.h"

namespace softnpu::ccl {

class RendezvousServer {
 public:
  // The one instance. It is never destroyed; its thread ends at process exit.
  static RendezvousServer& get();

  // Serves a rendezvous at `info` until it is over.
  Status open(const RootInfo& info, std::chrono::seconds timeout);

 private:
  void run();

  std::mutex mutex_;  // guards arrivals_
  std::vector<Rendezvous> arrivals_;
  WakeupThread thread_{"other ranks connect to"};
};

}  // namespace softnpu::ccl
