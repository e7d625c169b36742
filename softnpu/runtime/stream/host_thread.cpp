#include "runtime/stream/host_thread.h"

#include <utility>

#include "base/join.h"

namespace softnpu {

void HostThread::post(std::function<void()> function) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (!thread_.joinable())
      thread_ = std::thread([this] {
        is_own_thread = true;
        run();
      });
    functions_.push_back(std::move(function));
  }
  posted_.notify_one();
}

void HostThread::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    functions_.clear();
    thread.swap(thread_);
  }
  posted_.notify_one();
  join(std::move(thread));
}

void HostThread::run() {
  while (true) {
    std::function<void()> function;
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [&] { return stopping_ || !functions_.empty(); });
      if (stopping_) return;
      function = std::move(functions_.front());
      functions_.pop_front();
    }
    function();
  }
}

}  // namespace softnpu
