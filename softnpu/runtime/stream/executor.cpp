#include "runtime/stream/executor.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/join.h"
#include "base/spin.h"
#include "base/text.h"

namespace softnpu {
namespace {

thread_local Executor* current_executor = nullptr;
thread_local uint64_t current_generation = 0;

}  // namespace

Executor::~Executor() { stop(); }

Status Executor::start() {
  std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return Status::ok();
  try {
    thread_ = start_thread(generation_);
  } catch (const std::system_error& e) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("the device's thread cannot be started: ", e.what())};
  }
  return Status::ok();
}

std::thread Executor::start_thread(uint64_t generation) {
  return std::thread([this, generation] {
    is_own_thread = true;
    run(generation);
  });
}

void Executor::leave_overdue(std::chrono::nanoseconds limit) {
  std::vector<std::thread> ended;
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || running_ == nullptr || Clock::now() - since_ < limit) return;
    ended.reserve(left_.size());
    left_.reserve(left_.size() + 1);
    for (AbandonedThread& left : left_) {
      if (left.stream == nullptr) ended.push_back(std::move(left.thread));
    }
    std::erase_if(left_, [](const AbandonedThread& left) { return left.stream == nullptr; });
    std::thread fresh;
    try {
      fresh = start_thread(generation_ + 1);
    } catch (const std::system_error&) {  // the next wait tries again
      return;
    }
    left_.push_back({generation_, std::exchange(thread_, std::move(fresh)), std::move(running_)});
    ++generation_;
  }
  for (std::thread& thread : ended) join(std::move(thread));
}

bool Executor::is_overdue(const Stream* stream) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(left_, [&](const AbandonedThread& left) { return left.stream.get() == stream; });
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

void Executor::begin_operator() {
  Executor* executor = current_executor;
  if (executor == nullptr) return;
  std::lock_guard lock(executor->mutex_);
  if (executor->generation_ == current_generation) executor->since_ = Clock::now();
}

void Executor::add_inline(uint64_t count) noexcept {
  // Reading the clock for each small task would cost as much as it does.
  constexpr uint64_t kEnough = 100'000;
  if (inline_ticks_.fetch_add(count, std::memory_order_relaxed) + count < kEnough) return;
  const uint64_t taken = inline_ticks_.exchange(0, std::memory_order_relaxed);
  status_.busy.fetch_add(rate_.to_ns(taken), std::memory_order_release);
}

bool Executor::on_executor_thread() const { return current_executor == this; }

bool Executor::stopped() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

void Executor::stop() {
  std::vector<AbandonedThread> threads;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& streams : ready_) streams.clear();
    threads.swap(left_);
    threads.push_back({generation_, std::move(thread_), nullptr});
  }
  ready_cv_.notify_all();
  for (AbandonedThread& left : threads) join(std::move(left.thread));
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
  if (!idle_long_enough_ && !ready_cv_.wait_for(*lock, kRest, is_wanted)) {
    idle_long_enough_ = true;
  }
  if (stream == nullptr) ready_cv_.wait(*lock, is_wanted);
  sleeping_ = false;
  return stream;
}

void Executor::run(uint64_t generation) {
  current_executor = this;
  current_generation = generation;
  while (true) {
    std::shared_ptr<Stream> last;  // released without the lock
    std::shared_ptr<Stream> stream;
    std::unique_lock lock(mutex_);
    if (generation != generation_) {
      const auto own = std::ranges::find(left_, generation, &AbandonedThread::generation);
      if (own != left_.end()) last = std::move(own->stream);  // otherwise stop() has taken it
      lock.unlock();
      return;
    }
    last = std::move(running_);
    if ((stream = pop()) == nullptr && !stopping_) {
      const uint64_t seen = pushes_.load(std::memory_order_relaxed);
      lock.unlock();
      last = nullptr;
      spin_until([this, seen] { return pushes_.load(std::memory_order_acquire) != seen; });
      lock.lock();
      stream = sleep(&lock);
    }
    if (stopping_) return;
    const auto start = Clock::now();
    since_ = start;
    Stream& current = *(running_ = std::move(stream));
    lock.unlock();
    last = nullptr;
    idle_long_enough_.store(false, std::memory_order_relaxed);
    const auto begin = static_cast<uint64_t>(start.time_since_epoch() / std::chrono::nanoseconds(1));
    status_.since.store(begin, std::memory_order_relaxed);
    current.advance();
    // A reader that sees the sum sees the end, and counts the task once.
    status_.since.store(0, std::memory_order_relaxed);
    status_.busy.fetch_add(steady_ns() - begin, std::memory_order_release);
  }
}

}  // namespace softnpu
