#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/file.h"

namespace softnpu {

// Another process of the machine. A later process with the same number is not taken for it.
class PeerProcess {
 public:
  // When process `pid` started, in clock ticks since the boot; 0 if that is unknown.
  static uint64_t start_time(pid_t pid);

  // `start_time` is that of the process that is meant.
  PeerProcess(pid_t pid, uint64_t start_time);

  pid_t pid() const { return pid_; }
  // False once it has ended, even if its parent has not waited for it.
  bool is_alive() const;

 private:
  const pid_t pid_;
  File file_;  // a pidfd
  bool is_known_dead_ = false;
};

}  // namespace softnpu
