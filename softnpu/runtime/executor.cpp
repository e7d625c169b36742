#include "runtime/executor.h"

#include <system_error>
#include <utility>

#include "base/text.h"
#include "runtime/spin.h"

namespace softnpu {
namespace {

thread_local const Executor* current_executor = nullptr;

}  // namespace

Executor::~Executor() { stop(); }

Status Executor::start() {
  std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return Status::ok();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& e) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("the device's thread cannot be started: ", e.what())};
  }
  return Status::ok();
}

void Executor::push(std::shared_ptr<Stream> stream) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    StreamList& ready = ready_[stream->priority()];
    ready.push(std::move(stream));
    pushes_.fetch_add(1, std::memory_order_release);
    if (!sleeping_) return;
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

std::shared_ptr<Stream> Executor::pop() noexcept {
  for (StreamList& streams : ready_) {
    if (auto stream = streams.pop()) return stream;
  }
  return nullptr;
}

bool Executor::is_rested() const {
  constexpr std::chrono::milliseconds kRest(2);
  return std::chrono::steady_clock::now() - last_end_.load(std::memory_order_relaxed) > kRest;
}

void Executor::run() {
  using Clock = std::chrono::steady_clock;
  current_executor = this;
  while (true) {
    std::shared_ptr<Stream> stream;
    std::unique_lock lock(mutex_);
    if ((stream = pop()) == nullptr && !stopping_) {
      const uint64_t seen = pushes_.load(std::memory_order_relaxed);
      lock.unlock();
      spin_until([this, seen] { return pushes_.load(std::memory_order_acquire) != seen; });
      lock.lock();
      sleeping_ = true;
      ready_cv_.wait(lock, [&] { return stopping_ || (stream = pop()) != nullptr; });
      sleeping_ = false;
    }
    if (stopping_) return;
    lock.unlock();
    const auto start = Clock::now();
    stream->advance();
    const auto end = Clock::now();
    last_end_.store(end, std::memory_order_relaxed);
    busy_.fetch_add(std::chrono::nanoseconds(end - start).count(), std::memory_order_relaxed);
  }
}

}  // namespace softnpu
