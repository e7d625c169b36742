#include "workers/workers.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/no_destroy.h"
#include "base/spin.h"
#include "workers/core.h"

namespace softnpu {
namespace {

constexpr uint32_t kOpenerSleeps = uint32_t{1} << 31;
// A worker without work looks out for the next for kClose, as the parts of one operator follow each other, then for
// kIdle, in which a program gets from one operator to the next, while the core is offered to others; then it sleeps.
constexpr std::chrono::microseconds kClose{10};
constexpr std::chrono::microseconds kIdle{300};
// So many works of a few microseconds behind each other are worth waking a worker for.
constexpr uint32_t kOften = 8;
// How long a thread waits awake for others' seats: about what sleeping and waking takes.
constexpr std::chrono::microseconds kPatience{50};

// What the calling thread sits in, and where.
constinit thread_local SharedWork* current_work = nullptr;
constinit thread_local int current_seat = 0;

}  // namespace

// A worker that sleeps until it is woken.
struct Sleeper {
  SteeredThread thread;
  std::atomic<uint32_t> is_woken{0};
  Sleeper* next = nullptr;

  void sleep() noexcept {
    while (is_woken.load(std::memory_order_acquire) == 0) is_woken.wait(0, std::memory_order_acquire);
    thread.release();
  }

  void wake() noexcept {
    thread.steer();
    is_woken.store(1, std::memory_order_release);
    is_woken.notify_one();
  }
};

class Workers {
  using Clock = std::chrono::steady_clock;

 public:
  static Workers& of_process() {
    static NoDestroy<Workers> workers;  // the threads are never joined
    return workers.get();
  }

  bool reserve(int count) noexcept {
    if (started_.load(std::memory_order_relaxed) >= count) return true;
    std::lock_guard lock(mutex_);
    try {
      for (int i = started_.load(std::memory_order_relaxed); i < count; ++i) {
        std::thread thread([this] { run(); });
        pthread_setname_np(thread.native_handle(), "softnpu worker");
        thread.detach();
        started_.store(i + 1, std::memory_order_relaxed);
      }
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void show(SharedWork* work) noexcept {
    Sleeper* wanted = nullptr;
    {
      std::lock_guard lock(mutex_);
      (last_ == nullptr ? first_ : last_->next_) = work;
      last_ = work;
      for (int i = 1; i < work->seats_ && sleepers_ != nullptr; ++i) {
        Sleeper* sleeper = std::exchange(sleepers_, sleepers_->next);
        sleeper->next = std::exchange(wanted, sleeper);
        sleeping_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    shown_.fetch_add(1, std::memory_order_release);
    while (wanted != nullptr) std::exchange(wanted, wanted->next)->wake();
  }

  bool are_at_hand() noexcept {
    if (sleeping_.load(std::memory_order_relaxed) < started_.load(std::memory_order_relaxed)) return true;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    const Clock::rep before = asked_at_.exchange(now, std::memory_order_relaxed);
    if (Clock::duration(now - before) > kIdle) asked_.store(0, std::memory_order_relaxed);
    return asked_.fetch_add(1, std::memory_order_relaxed) >= kOften;
  }

  // The next free seat of `work`, which is its opener's; 0: none is left.
  int take_own(SharedWork* work) noexcept {
    std::lock_guard lock(mutex_);
    return work->taken_ == work->seats_ ? 0 : take(work);
  }

 private:
  // mutex_ is held.
  int take(SharedWork* work) noexcept {
    const int seat = work->taken_++;
    if (work->taken_ == work->seats_) remove(work);
    return seat;
  }

  void remove(const SharedWork* work) noexcept {
    SharedWork* before = nullptr;
    for (SharedWork* i = first_; i != work; i = i->next_) before = i;
    (before == nullptr ? first_ : before->next_) = work->next_;
    if (last_ == work) last_ = before;
  }

  void run() noexcept {
    Sleeper self;
    while (true) {
      const uint32_t seen = shown_.load(std::memory_order_acquire);
      if (sit()) continue;
      const auto is_new = [&] { return shown_.load(std::memory_order_relaxed) != seen; };
      if (watch_until(is_new, kClose) || spin_until(is_new, kIdle)) continue;
      if (lie_down(&self)) self.sleep();
    }
  }

  // Makes `self` one of those to wake; false where there is work.
  bool lie_down(Sleeper* self) noexcept {
    std::lock_guard lock(mutex_);
    if (first_ != nullptr) return false;
    self->is_woken.store(0, std::memory_order_relaxed);
    self->next = std::exchange(sleepers_, self);
    sleeping_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Runs a seat; false where none is free.
  bool sit() noexcept {
    SharedWork* work = nullptr;
    {
      std::lock_guard lock(mutex_);
      work = first_;
      if (work == nullptr) return false;
      current_seat = take(work);
      work->sitting_.fetch_add(1, std::memory_order_relaxed);
    }
    current_work = work;
    work->run_(work->context_, current_seat);
    current_work = nullptr;
    current_seat = 0;
    // From here on the work may be gone: only its address is used.
    if (work->sitting_.fetch_sub(1, std::memory_order_acq_rel) == kOpenerSleeps + 1) work->sitting_.notify_one();
    return true;
  }

  std::mutex mutex_;  // guards the lists: of works with free seats, and of sleepers
  SharedWork* first_ = nullptr;
  SharedWork* last_ = nullptr;
  Sleeper* sleepers_ = nullptr;
  // Watched without the mutex; the first two are written under it.
  std::atomic<int> sleeping_{0};    // sleepers
  std::atomic<int> started_{0};     // workers
  std::atomic<uint32_t> shown_{0};  // works so far
  // How often, without a pause, somebody asked for workers and all slept; and when last. Races lose a count.
  std::atomic<uint32_t> asked_{0};
  std::atomic<Clock::rep> asked_at_{0};
};

void SharedWork::open(Run run, void* context, int seats) noexcept {
  run_ = run;
  context_ = context;
  seats_ = seats;
  next_ = nullptr;
  taken_ = 1;
  outer_ = current_work;
  outer_seat_ = current_seat;
  const bool is_shown = outer_ == nullptr && seats > 1;
  current_work = this;
  current_seat = 0;
  if (!is_shown) return;
  Workers& workers = Workers::of_process();
  workers.reserve(seats - 1);  // with fewer, the opener has more seats
  workers.show(this);
}

void SharedWork::close() noexcept {
  if (outer_ != nullptr) {
    while (taken_ < seats_) run_(context_, current_seat = taken_++);
  } else if (seats_ > 1) {
    Workers& workers = Workers::of_process();
    while (const int seat = workers.take_own(this)) run_(context_, current_seat = seat);
    const auto is_over = [this] { return sitting_.load(std::memory_order_acquire) == 0; };
    if (!watch_until(is_over, kPatience)) {
      uint32_t sitting = sitting_.fetch_or(kOpenerSleeps, std::memory_order_acq_rel) | kOpenerSleeps;
      while (sitting != kOpenerSleeps) {
        sitting_.wait(sitting, std::memory_order_acquire);
        sitting = sitting_.load(std::memory_order_acquire);
      }
      sitting_.store(0, std::memory_order_relaxed);
    }
  }
  current_work = outer_;
  current_seat = outer_seat_;
}

void SharedWork::barrier() noexcept {
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == seats_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  const auto is_over = [&] { return phase_.load(std::memory_order_acquire) != phase; };
  if (watch_until(is_over, kPatience)) return;
  while (!is_over()) std::this_thread::yield();
}

Seat this_seat() noexcept {
  if (current_work == nullptr) return {};
  return {current_seat, current_work->seats(), true};
}

SharedWork* this_work() noexcept { return current_work; }

bool workers_are_at_hand() noexcept { return Workers::of_process().are_at_hand(); }

bool reserve_workers(int count) noexcept { return Workers::of_process().reserve(count); }

}  // namespace softnpu
