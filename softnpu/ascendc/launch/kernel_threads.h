#pragma once
// The threads that run blocks. They stay for some seconds after their last block.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <semaphore>

#include "softnpu_kernel/core.h"
#include "workers/core.h"

namespace softnpu::kernel {

class KernelThreads {
 public:
  // The process's. Never destroyed: threads that a kernel keeps may outlive everything.
  static KernelThreads& get();

  // Calls launch->run(block) on a thread. False if none can be started.
  bool post(std::shared_ptr<Launch> launch, uint32_t block) noexcept;

 private:
  struct Ticket {
    std::shared_ptr<Launch> launch;
    uint32_t block;
  };
  struct Sleeper {
    SteeredThread thread;
    std::binary_semaphore woken{0};
    Sleeper* next = nullptr;
  };

  void loop();
  // The next ticket, or one without a launch after a long time without any.
  Ticket take(Sleeper* self);
  // The following with mutex_ held. Wakes a sleeper, on another core than the caller's where it is steered.
  void wake_one(bool steers);
  void remove(const Sleeper* self);
  size_t awake() const { return idle_ - sleeping_; }

  std::atomic<uint32_t> waiting_{0};  // tickets; written under mutex_, read without
  std::mutex mutex_;                  // guards the members below
  std::deque<Ticket> tickets_;
  Sleeper* sleepers_ = nullptr;
  size_t sleeping_ = 0;
  size_t idle_ = 0;  // threads that will take a ticket, the sleepers among them; at least as many as tickets
};

}  // namespace softnpu::kernel
