#include "runtime/executor.h"

#include <system_error>
#include <utility>

#include "base/join.h"
#include "base/spin.h"
#include "base/text.h"

namespace softnpu {
namespace {

thread_local const Executor* current_executor = nullptr;

}  // namespace

Executor::~Executor() { stop(); }

Status Executor::start() {
  std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return Status::ok();
  try {
    thread_ = std::thread([this] {
      is_own_thread = true;
      run();
    });
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
  join(std::move(thread));
}

std::shared_ptr<Stream> Executor::pop() noexcept {
  for (StreamList& streams : ready_) {
    if (auto stream = streams.pop()) return stream;
  }
  return nullptr;
}

std::shared_ptr<Stream> Executor::sleep(std::unique_lock<std::mutex>* lock) {
  constexpr std::chrono::milliseconds kRest(2);
  std::shared_ptr<Stream> stream;
  const auto is_wanted = [&] { return stopping_ || (stream = pop()) != nullptr; };
  sleeping_ = true;
  if (!rested_ && !ready_cv_.wait_for(*lock, kRest, is_wanted)) {
    rested_ = true;
  }
  if (stream == nullptr) ready_cv_.wait(*lock, is_wanted);
  sleeping_ = false;
  return stream;
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
      stream = sleep(&lock);
    }
    if (stopping_) return;
    lock.unlock();
    rested_.store(false, std::memory_order_relaxed);
    const auto start = Clock::now();
    stream->advance();
    busy_.fetch_add(std::chrono::nanoseconds(Clock::now() - start).count(), std::memory_order_relaxed);
  }
}

}  // namespace softnpu
