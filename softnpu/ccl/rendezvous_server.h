#pragma once
// The thread that serves the rendezvous that this process opened (HcclGetRootInfo, sub-communicators).

#include <mutex>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "ccl/rendezvous.h"

namespace softnpu::ccl {

class RendezvousServer {
 public:
  // The one instance. It is never destroyed; its thread ends at process exit.
  static RendezvousServer& get();

  // Serves a rendezvous at `info` until it is over.
  Status open(const RootInfo& info, std::chrono::seconds timeout);

 private:
  Status start();
  void run();
  void stop();

  std::mutex mutex_;  // guards all members below
  File bell_;         // an eventfd; set once by start()
  std::vector<Rendezvous> arrivals_;
  bool stopping_ = false;
  int32_t pid_ = 0;  // of the process that started the thread
  std::thread thread_;
};

}  // namespace softnpu::ccl
