#pragma once
// The thread that serves the meetings that this process opened (HcclGetRootInfo, sub-communicators).

#include <mutex>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "ccl/meeting.h"

namespace softnpu::ccl {

class Host {
 public:
  // The one instance. It is never destroyed; its thread ends at process exit.
  static Host& get();

  // Serves a meeting at `info` until it is over.
  Status open(const RootInfo& info, std::chrono::seconds patience);

 private:
  Status start();
  void run();
  void stop();

  std::mutex mutex_;  // guards all members below
  File bell_;         // an eventfd; set once by start()
  std::vector<Meeting> arrivals_;
  bool stopping_ = false;
  int32_t pid_ = 0;  // of the process that started the thread
  std::thread thread_;
};

}  // namespace softnpu::ccl
