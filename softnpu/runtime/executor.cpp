#include "runtime/executor.h"

#include <utility>

namespace softnpu {
namespace {

thread_local const Executor* current_executor = nullptr;

}  // namespace

Executor::~Executor() { stop(); }

void Executor::push(std::shared_ptr<Stream> stream) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    ready_[stream->priority()].push_back(stream);
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
    for (auto& streams : ready_) streams.clear();
    thread.swap(thread_);
  }
  ready_cv_.notify_all();
  if (thread.joinable()) thread.join();
}

std::shared_ptr<Stream> Executor::pop() {
  for (auto& streams : ready_) {
    if (streams.empty()) continue;
    std::shared_ptr<Stream> stream = std::move(streams.front());
    streams.pop_front();
    return stream;
  }
  return nullptr;
}

void Executor::run() {
  using Clock = std::chrono::steady_clock;
  current_executor = this;
  while (true) {
    std::shared_ptr<Stream> stream;
    {
      std::unique_lock lock(mutex_);
      ready_cv_.wait(lock, [&] { return stopping_ || (stream = pop()) != nullptr; });
      if (stopping_) return;
    }
    const auto start = Clock::now();
    stream->advance();
    busy_.fetch_add(std::chrono::nanoseconds(Clock::now() - start).count(), std::memory_order_relaxed);
  }
}

}  // namespace softnpu
