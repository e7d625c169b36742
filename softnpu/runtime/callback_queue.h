#pragma once
// Functions of the program that run on its own threads: a thread subscribes to streams and serves what they launch.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "base/status.h"

namespace softnpu {

class CallbackQueue {
 public:
  // `thread` (pthread_self of it) serves `stream` (its handle) from now on.
  Status subscribe(uint64_t thread, const void* stream);
  // What was launched and not served is dropped: each is called with false.
  Status unsubscribe(uint64_t thread, const void* stream);
  // The stream is destroyed: as if its thread, if any, were unsubscribed.
  void forget(const void* stream);
  bool is_subscribed(const void* stream) const;

  // A function for the thread that serves `stream`; it is called with true by serve(). False where none serves it.
  bool post(const void* stream, std::function<void(bool served)> function);

  // Runs the calling thread's next function; waits for one up to `timeout`, for ever where that is negative.
  Status serve(std::chrono::milliseconds timeout);

 private:
  struct Callback {
    const void* stream = nullptr;
    std::function<void(bool)> function;
  };
  struct Queue {
    std::deque<Callback> callbacks;
    std::condition_variable posted;
    int streams = 0;
    int serving = 0;
  };

  mutable std::mutex mutex_;  // guards all below
  std::map<const void*, uint64_t> threads_;
  std::map<uint64_t, Queue> queues_;
};

}  // namespace softnpu
