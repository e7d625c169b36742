#pragma once
// The threads that run blocks. They stay for some seconds after their last block.

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "softnpu_kernel/core.h"

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

  void loop();
  // The next ticket, or one without a launch after a long time without any.
  Ticket take();

  std::atomic<uint32_t> waiting_{0};  // tickets; written under mutex_, read without
  std::mutex mutex_;                  // guards the members below
  std::condition_variable posted_;
  std::deque<Ticket> tickets_;
  uint32_t idle_ = 0;  // threads that will take a ticket
};

}  // namespace softnpu::kernel
