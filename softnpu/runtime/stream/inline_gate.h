#pragma once
// The inline execution lock of a stream: a small task on an idle stream runs on the caller's thread after one
// compare-and-swap, without the stream's mutex.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softnpu {

// At most one thread is inside, and none while tasks are queued. A thread that queues raises `pending` before it reads
// the gate; a thread that enters reads `pending` afterwards. So one of the two always sees the other.
class InlineGate {
 public:
  // Enters if no thread is inside and nothing is pending. The caller then calls leave(), immediately if must_leave().
  bool try_enter() noexcept {
    State open = State::kOpen;
    return !has_pending() && state_.compare_exchange_strong(open, State::kTaken);
  }
  // Whether a task was queued meanwhile. Called by the thread inside.
  bool must_leave() const noexcept { return pending_.load() != 0; }
  // False if await_leave() was called: the caller must notify the waiting thread.
  [[nodiscard]] bool leave() noexcept { return state_.exchange(State::kOpen) == State::kTaken; }

  // Whether a thread is inside; its leave() then returns false. The stream's mutex is held.
  bool await_leave() noexcept {
    State taken = State::kTaken;
    return state_.compare_exchange_strong(taken, State::kAwaited) || taken == State::kAwaited;
  }

  // Tasks that are queued or run on the executor. The stream's mutex is held.
  void add_pending() noexcept { pending_.fetch_add(1); }
  void remove_pending(size_t count) noexcept { pending_.fetch_sub(count, std::memory_order_release); }
  bool has_pending() const noexcept { return pending_.load(std::memory_order_acquire) != 0; }

  bool idle() const noexcept { return !has_pending() && state_.load(std::memory_order_acquire) == State::kOpen; }

  // Number of tasks that have run inside.
  uint64_t runs() const noexcept { return runs_.load(std::memory_order_relaxed); }
  // Increments runs() and returns the previous value. Called by the thread inside.
  uint64_t count_run() noexcept {
    const uint64_t before = runs();
    runs_.store(before + 1, std::memory_order_relaxed);
    return before;
  }

 private:
  enum class State : uint8_t {
    kOpen,
    kTaken,
    kAwaited,  // taken, and a thread waits for leave()
  };
  std::atomic<State> state_{State::kOpen};
  std::atomic<size_t> pending_{0};
  std::atomic<uint64_t> runs_{0};  // written by the thread inside
};

}  // namespace softnpu
