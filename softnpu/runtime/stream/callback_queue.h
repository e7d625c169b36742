#pragma once
// Runs the program's callbacks on the program's own threads: a thread subscribes to streams and serves the callbacks
// that they launch.

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
  // From now on `thread` (a pthread_self()) serves `stream` (a handle).
  Status subscribe(uint64_t thread, const void* stream);
  // Drops callbacks that were launched and not served: calls each with false.
  Status unsubscribe(uint64_t thread, const void* stream);
  // The stream is destroyed: unsubscribes its thread, if it has one.
  void forget(const void* stream);
  bool is_subscribed(const void* stream) const;

  // Queues a function for the thread that serves `stream`; serve() calls it with true. False if no thread serves it.
  bool post(const void* stream, std::function<void(bool served)> function);

  // Runs the calling thread's next function. Waits for one up to `timeout`, without limit if it is negative.
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

  mutable std::mutex mutex_;  // guards all members below
  std::map<const void*, uint64_t> threads_;
  std::map<uint64_t, Queue> queues_;
};

}  // namespace softnpu
