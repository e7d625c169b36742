#pragma once
// The thread that watches, for all communicators of the process, what parked streams wait for and whether peers live.
// It sleeps until a peer rings this process's bell, a process ends, or a time limit is reached.

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "ccl/peer.h"
#include "ccl/wakeup_thread.h"
#include "softnpu/steps.h"

namespace softnpu::ccl {

// What a stream waits for.
class Waiting {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Waiting() = default;
  // Asks peers to ring the bell at each change from now on; called before is_over().
  virtual void request_wakeup() noexcept = 0;
  // Whether the stream should go on: what it waits for is there, will never be, or is late.
  virtual bool is_over() noexcept = 0;
  // When is_over() becomes true by itself; max() for never.
  virtual Clock::time_point deadline() const noexcept = 0;
};

class Watcher {
 public:
  // The one instance. It is never destroyed; its thread ends at process exit.
  static Watcher& get();

  // Starts the thread, once. Before the other functions.
  Status start();

  // The eventfd that wakes the thread.
  int wakeup() const { return thread_.wakeup(); }
  void ring() const { thread_.ring(); }

  // Resumes `turn` when `waiting` is over. Borrows both until then, or until forget().
  void park(Waiting* waiting, softnpuTurn* turn);
  // After it, nothing is resumed. Does nothing for what is not parked.
  void forget(Waiting* waiting);

  // Watches for the process's end while the object lives.
  void watch(const std::shared_ptr<Peer>& peer);

 private:
  struct Parked {
    Waiting* waiting = nullptr;
    softnpuTurn* turn = nullptr;
  };

  void run();
  // Sleeps until something may have changed.
  void sleep(Waiting::Clock::time_point until);
  // Resumes what is over. Returns the earliest deadline of the rest. mutex_ is held.
  Waiting::Clock::time_point resume_ready();

  std::mutex mutex_;  // guards parked_ and peers_
  std::vector<Parked> parked_;
  std::vector<std::weak_ptr<Peer>> peers_;
  WakeupThread thread_{"watches other ranks"};
};

}  // namespace softnpu::ccl
