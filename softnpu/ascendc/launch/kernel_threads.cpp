#include "ascendc/launch/kernel_threads.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "ascendc/launch/launch.h"
#include "ascendc/launch/trap.h"
#include "base/no_destroy.h"
#include "base/spin.h"

namespace softnpu::kernel {

KernelThreads& KernelThreads::get() {
  static NoDestroy<KernelThreads> threads;
  return threads.get();
}

bool KernelThreads::post(std::shared_ptr<Launch> launch, uint32_t block) noexcept {
  try {
    std::lock_guard lock(mutex_);
    tickets_.push_back({std::move(launch), block});
    if (tickets_.size() > idle_) {
      try {
        std::thread([this] { loop(); }).detach();
      } catch (const std::exception&) {
        // A ticket that another thread is about to take would be lost with this one.
        tickets_.pop_back();
        return false;
      }
      ++idle_;
    }
    waiting_.store(static_cast<uint32_t>(tickets_.size()), std::memory_order_release);
    // Who takes a ticket wakes the next ones: it knows the core that they have to keep off.
    if (awake() == 0) wake_one(false);
  } catch (const std::exception&) {  // out of memory
    return false;
  }
  return true;
}

void KernelThreads::wake_one(bool steers) {
  Sleeper* sleeper = std::exchange(sleepers_, sleepers_->next);
  --sleeping_;
  if (steers) sleeper->thread.steer();
  sleeper->woken.release();
}

void KernelThreads::remove(const Sleeper* self) {
  Sleeper** at = &sleepers_;
  while (*at != self) at = &(*at)->next;
  *at = self->next;
  --sleeping_;
}

KernelThreads::Ticket KernelThreads::take(Sleeper* self) {
  constexpr std::chrono::seconds kKeep(5);
  constexpr int kMaxWoken = 2;
  // A thread of the device is often about to post the next launch.
  spin_until([this] { return waiting_.load(std::memory_order_acquire) > 0; });
  std::unique_lock lock(mutex_);
  while (tickets_.empty()) {
    self->next = std::exchange(sleepers_, self);
    ++sleeping_;
    lock.unlock();
    const bool is_woken = self->woken.try_acquire_for(kKeep);
    lock.lock();
    if (!is_woken && !self->woken.try_acquire()) {
      remove(self);
      if (!tickets_.empty()) break;  // one of them has counted on this thread
      --idle_;
      return {};
    }
    self->thread.release();
  }
  --idle_;
  Ticket ticket = std::move(tickets_.front());
  tickets_.pop_front();
  waiting_.store(static_cast<uint32_t>(tickets_.size()), std::memory_order_release);
  for (int i = 0; i < kMaxWoken && awake() < tickets_.size(); ++i) wake_one(true);
  return ticket;
}

void KernelThreads::loop() {
  const TrapStack stack;
  Sleeper self;
  while (true) {
    Ticket ticket = take(&self);
    if (ticket.launch == nullptr) return;
    const bool is_spent = ticket.launch->run(ticket.block);
    ticket = {};
    if (is_spent) return;
    std::lock_guard lock(mutex_);
    ++idle_;
  }
}

}  // namespace softnpu::kernel
