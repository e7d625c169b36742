#pragma once
// A thread of the process that sleeps until its bell rings: the frame of the rendezvous server and of the watcher.

#include <poll.h>

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/status.h"

namespace softnpu::ccl {

class WakeupThread {
 public:
  // `purpose` completes "the thread that", for errors.
  explicit WakeupThread(const char* purpose) : purpose_(purpose) {}

  // Starts `run` once, on a thread that takes no signals. Fails after stop(). `run` returns when is_stopping().
  Status start(std::function<void()> run);
  // Ends the thread; in a forked child, which does not have it, nothing. Called once, at the end of the process.
  void stop();

  bool is_stopping() const;
  // Set by the first start().
  int wakeup() const { return wakeup_.fd(); }
  void ring() const;
  // Sleeps until the bell rings, one of `files` is ready or `milliseconds` are over (negative: no limit). Returns
  // whether a file may be ready; their revents say which.
  bool sleep(std::vector<pollfd>* files, int milliseconds);

 private:
  const char* const purpose_;
  mutable std::mutex mutex_;  // guards what follows
  File wakeup_;               // an eventfd
  bool stopping_ = false;
  int32_t pid_ = 0;  // of the process that started the thread
  std::thread thread_;
};

}  // namespace softnpu::ccl
