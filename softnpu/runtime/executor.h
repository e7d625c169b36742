#pragma once
// The thread that plays a device's cores: it takes the next ready stream and runs one task of it.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/status.h"
#include "runtime/stream_list.h"

namespace softnpu {

class Stream;

class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Starts the thread, once; before the first push().
  Status start();

  // Makes `stream`, which is not ready yet, ready. After stop() nothing runs any more.
  void push(std::shared_ptr<Stream> stream) noexcept;

  bool on_executor_thread() const;

  // True once stop() was called: what is enqueued from then on has to run where it is enqueued.
  bool stopped() const;

  // Lets the running task end and joins the thread. Idempotent.
  void stop();

 private:
  void run();

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable ready_cv_;
  StreamList ready_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace softnpu
