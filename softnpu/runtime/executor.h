#pragma once
// The thread that plays a device's cores: it takes the next ready stream and runs one task of it.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace softnpu {

class Stream;

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Makes `stream` ready. The thread starts with the first one; after stop() nothing runs any more.
  void push(std::shared_ptr<Stream> stream);

  bool on_executor_thread() const;

  // True once stop() was called: what is enqueued from then on has to run where it is enqueued.
  bool stopped() const;

  // Lets the running task end and joins the thread. Idempotent.
  void stop();

 private:
  void run();

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable ready_cv_;
  std::deque<std::shared_ptr<Stream>> ready_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
