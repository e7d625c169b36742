#pragma once
// The inline execution lock of a stream: a small task on an idle stream runs on the caller's thread after one
// compare-and-swap, without the stream's mutex.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softnpu {

// At most one thread is inside. Queued tasks keep everybody out: who queues raises `pending` before it looks at the
// gate, who enters looks at `pending` afterwards, so that one of the two sees the other.
class InlineGate {
 public:
  // Enters where nobody is inside and nothing is pending. leave() follows, at once where must_leave().
  bool try_enter() noexcept {
    State open = State::kOpen;
    return !has_pending() && state_.compare_exchange_strong(open, State::kTaken);
  }
  // Whether something was queued meanwhile. For the thread inside.
  bool must_leave() const noexcept { return pending_.load() != 0; }
  // False where await_leave() was called: whoever called it has to be told.
  [[nodiscard]] bool leave() noexcept { return state_.exchange(State::kOpen) == State::kTaken; }

  // Whether a thread is inside; its leave() is false then. The stream's mutex is held.
  bool await_leave() noexcept {
    State taken = State::kTaken;
    return state_.compare_exchange_strong(taken, State::kAwaited) || taken == State::kAwaited;
  }

  // Tasks that are queued or run on the executor. The stream's mutex is held.
  void add_pending() noexcept { pending_.fetch_add(1); }
  void remove_pending(size_t count) noexcept { pending_.fetch_sub(count, std::memory_order_release); }
  bool has_pending() const noexcept { return pending_.load(std::memory_order_acquire) != 0; }

  bool idle() const noexcept { return !has_pending() && state_.load(std::memory_order_acquire) == State::kOpen; }

  // Tasks that ran inside so far.
  uint64_t runs() const noexcept { return runs_.load(std::memory_order_relaxed); }
  // Counts one more and returns how many there were before. For the thread inside.
  uint64_t count_run() noexcept {
    const uint64_t before = runs();
    runs_.store(before + 1, std::memory_order_relaxed);
    return before;
  }

 private:
  enum class State : uint8_t {
    kOpen,
    kTaken,
    kAwaited,  // taken, and somebody waits for leave()
  };
  std::atomic<State> state_{State::kOpen};
  std::atomic<size_t> pending_{0};
  std::atomic<uint64_t> runs_{0};  // written by the thread inside
};

}  // namespace softnpu
