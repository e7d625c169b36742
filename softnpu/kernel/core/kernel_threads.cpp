#include "kernel/core/kernel_threads.h"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "base/no_destroy.h"
#include "base/spin.h"
#include "kernel/core/launch.h"
#include "kernel/core/trap.h"

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
  } catch (const std::exception&) {  // out of memory
    return false;
  }
  posted_.notify_one();
  return true;
}

KernelThreads::Ticket KernelThreads::take() {
  constexpr std::chrono::seconds kKeep(5);
  // A thread of the device is often about to post the next launch.
  spin_until([this] { return waiting_.load(std::memory_order_acquire) > 0; });
  std::unique_lock lock(mutex_);
  posted_.wait_for(lock, kKeep, [this] { return !tickets_.empty(); });
  --idle_;
  if (tickets_.empty()) return {};
  Ticket ticket = std::move(tickets_.front());
  tickets_.pop_front();
  waiting_.store(static_cast<uint32_t>(tickets_.size()), std::memory_order_release);
  return ticket;
}

void KernelThreads::loop() {
  const TrapStack stack;
  while (true) {
    Ticket ticket = take();
    if (ticket.launch == nullptr) return;
    const bool is_spent = ticket.launch->run(ticket.block);
    ticket = {};
    if (is_spent) return;
    std::lock_guard lock(mutex_);
    ++idle_;
  }
}

}  // namespace softnpu::kernel
