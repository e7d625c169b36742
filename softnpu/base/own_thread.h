#pragma once
// Threads of this library that run no code of the program.

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

#include "base/join.h"

namespace softnpu {

// Starts `run` on a thread that takes no signal: handlers of the program run on the program's threads. Throws
// std::system_error.
template <typename Run>
std::thread start_own_thread(Run run) {
  struct AllBlocked {
    AllBlocked() {
      sigset_t all{};
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    AllBlocked(const AllBlocked&) = delete;
    AllBlocked& operator=(const AllBlocked&) = delete;
    ~AllBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before{};
  } const blocked;
  return std::thread([run = std::move(run)]() mutable {
    is_own_thread = true;
    run();
  });
}

}  // namespace softnpu
