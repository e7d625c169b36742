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

constexpr uint32_t kSubmitterSleeps = uint32_t{1} << 31;
// A worker without a slot spins for kClose (the next part of an operator follows at once), then for kIdle with yields
// (the next operator follows), then sleeps.
constexpr std::chrono::microseconds kClose{10};
constexpr std::chrono::microseconds kIdle{300};
// After this many short regions in a row waking a worker pays.
constexpr uint32_t kOften = 8;
// How long a thread spins for others' slots: about the time of sleeping and waking.
constexpr std::chrono::microseconds kSpinTime{50};

// The calling thread's region and slot.
constinit thread_local ParallelRegion* current_region = nullptr;
constinit thread_local int current_slot = 0;

}  // namespace

// A sleeping worker.
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

  void publish(ParallelRegion* region) noexcept {
    Sleeper* wanted = nullptr;
    {
      std::lock_guard lock(mutex_);
      (last_ == nullptr ? first_ : last_->next_) = region;
      last_ = region;
      for (int i = 1; i < region->slots_ && sleepers_ != nullptr; ++i) {
        Sleeper* sleeper = std::exchange(sleepers_, sleepers_->next);
        sleeper->next = std::exchange(wanted, sleeper);
        sleeping_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    published_.fetch_add(1, std::memory_order_release);
    while (wanted != nullptr) std::exchange(wanted, wanted->next)->wake();
  }

  bool any_awake() noexcept {
    if (sleeping_.load(std::memory_order_relaxed) < started_.load(std::memory_order_relaxed)) return true;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    const Clock::rep before = asked_at_.exchange(now, std::memory_order_relaxed);
    if (Clock::duration(now - before) > kIdle) asked_.store(0, std::memory_order_relaxed);
    return asked_.fetch_add(1, std::memory_order_relaxed) >= kOften;
  }

  // The next free slot of `region`, for its submitter; 0 if none is left.
  int take_slot(ParallelRegion* region) noexcept {
    std::lock_guard lock(mutex_);
    return region->taken_ == region->slots_ ? 0 : take(region);
  }

 private:
  // mutex_ is held.
  int take(ParallelRegion* region) noexcept {
    const int slot = region->taken_++;
    if (region->taken_ == region->slots_) remove(region);
    return slot;
  }

  void remove(const ParallelRegion* region) noexcept {
    ParallelRegion* before = nullptr;
    for (ParallelRegion* i = first_; i != region; i = i->next_) before = i;
    (before == nullptr ? first_ : before->next_) = region->next_;
    if (last_ == region) last_ = before;
  }

  void run() noexcept {
    Sleeper self;
    while (true) {
      const uint32_t seen = published_.load(std::memory_order_acquire);
      if (run_slot()) continue;
      const auto is_new = [&] { return published_.load(std::memory_order_relaxed) != seen; };
      if (watch_until(is_new, kClose) || spin_until(is_new, kIdle)) continue;
      if (park(&self)) self.sleep();
    }
  }

  // Adds `self` to the sleepers; false if a region has free slots.
  bool park(Sleeper* self) noexcept {
    std::lock_guard lock(mutex_);
    if (first_ != nullptr) return false;
    self->is_woken.store(0, std::memory_order_relaxed);
    self->next = std::exchange(sleepers_, self);
    sleeping_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Claims a slot and runs it; false if none is free.
  bool run_slot() noexcept {
    ParallelRegion* region = nullptr;
    {
      std::lock_guard lock(mutex_);
      region = first_;
      if (region == nullptr) return false;
      current_slot = take(region);
      region->running_slots_.fetch_add(1, std::memory_order_relaxed);
    }
    current_region = region;
    region->run_(region->context_, current_slot);
    current_region = nullptr;
    current_slot = 0;
    // From here on the region may be destroyed: only its address is used.
    if (region->running_slots_.fetch_sub(1, std::memory_order_acq_rel) == kSubmitterSleeps + 1)
      region->running_slots_.notify_one();
    return true;
  }

  std::mutex mutex_;  // guards the lists of regions with free slots and of sleepers
  ParallelRegion* first_ = nullptr;
  ParallelRegion* last_ = nullptr;
  Sleeper* sleepers_ = nullptr;
  // Read without the mutex; the first two are written under it.
  std::atomic<int> sleeping_{0};        // sleepers
  std::atomic<int> started_{0};         // workers
  std::atomic<uint32_t> published_{0};  // regions so far
  // The number of requests in a row that found all workers asleep, and the time of the last. A race may lose a count.
  std::atomic<uint32_t> asked_{0};
  std::atomic<Clock::rep> asked_at_{0};
};

void ParallelRegion::fork(Run run, void* context, int slots) noexcept {
  run_ = run;
  context_ = context;
  slots_ = slots;
  next_ = nullptr;
  taken_ = 1;
  outer_ = current_region;
  outer_slot_ = current_slot;
  const bool is_published = outer_ == nullptr && slots > 1;
  current_region = this;
  current_slot = 0;
  if (!is_published) return;
  Workers& workers = Workers::of_process();
  workers.reserve(slots - 1);  // if it fails the submitter runs more slots
  workers.publish(this);
}

void ParallelRegion::join() noexcept {
  if (outer_ != nullptr) {
    while (taken_ < slots_) run_(context_, current_slot = taken_++);
  } else if (slots_ > 1) {
    Workers& workers = Workers::of_process();
    while (const int slot = workers.take_slot(this)) run_(context_, current_slot = slot);
    const auto is_over = [this] { return running_slots_.load(std::memory_order_acquire) == 0; };
    if (!watch_until(is_over, kSpinTime)) {
      uint32_t running = running_slots_.fetch_or(kSubmitterSleeps, std::memory_order_acq_rel) | kSubmitterSleeps;
      while (running != kSubmitterSleeps) {
        running_slots_.wait(running, std::memory_order_acquire);
        running = running_slots_.load(std::memory_order_acquire);
      }
      running_slots_.store(0, std::memory_order_relaxed);
    }
  }
  current_region = outer_;
  current_slot = outer_slot_;
}

void ParallelRegion::barrier() noexcept {
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == slots_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  const auto is_over = [&] { return phase_.load(std::memory_order_acquire) != phase; };
  if (watch_until(is_over, kSpinTime)) return;
  while (!is_over()) std::this_thread::yield();
}

Slot this_slot() noexcept {
  if (current_region == nullptr) return {};
  return {current_slot, current_region->slots(), true};
}

ParallelRegion* this_region() noexcept { return current_region; }

bool any_worker_awake() noexcept { return Workers::of_process().any_awake(); }

bool reserve_workers(int count) noexcept { return Workers::of_process().reserve(count); }

}  // namespace softnpu
