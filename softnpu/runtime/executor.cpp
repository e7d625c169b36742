#include "runtime/executor.h"

#include <utility>

#include "runtime/stream.h"

namespace softnpu {
namespace {

thread_local const Executor* current_executor = nullptr;

}  // namespace

Executor::~Executor() { stop(); }

void Executor::push(std::shared_ptr<Stream> stream) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    ready_.push_back(std::move(stream));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  ready_cv_.notify_one();
}

bool Executor::on_executor_thread() const { return current_executor == this; }

bool Executor::stopped() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

void Executor::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    ready_.clear();
    thread.swap(thread_);
  }
  ready_cv_.notify_all();
  if (thread.joinable()) thread.join();
}

void Executor::run() {
  current_executor = this;
  while (true) {
    std::shared_ptr<Stream> stream;
    {
      std::unique_lock lock(mutex_);
      ready_cv_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
      if (stopping_) return;
      stream = std::move(ready_.front());
      ready_.pop_front();
    }
    stream->advance();
  }
}

}  // namespace softnpu
