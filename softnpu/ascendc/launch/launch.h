#pragma once
// A launch of a kernel: its blocks, which threads run and which may wait for each other.

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/sanitizer/run.h"
#include "softnpu/steps.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel {

// A block that waits for others occupies no thread of the `threads` that the launch may use at once: another block
// begins, or goes on, in its place.
class Launch : public std::enable_shared_from_this<Launch> {
 public:
  Launch(const softnpuKernel& kernel, uint32_t blocks, int threads, int32_t device, const void* arguments,
         size_t bytes);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  int32_t device() const { return device_; }
  const std::vector<unsigned char>& arguments() const { return arguments_; }

  // Gives the blocks to threads. `turn` is resumed after the last, unless forget_turn() was called.
  void start(softnpuTurn* turn);
  void forget_turn();
  bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
  // After the end: why the first block failed, or empty.
  const std::string& failure() const { return failure_; }

  // For threads: runs `block`, and others that have not begun. True if the thread must run nothing else.
  bool run(uint32_t block);

  // For blocks: the launch has `vector_cores` blocks of vector cores for each that it was given, and those of as many
  // cube cores as it was given, where `has_cube`. Later calls change nothing.
  void mix(uint32_t vector_cores, bool has_cube);
  bool has_cube();
  // Makes `block` the run of number `number` as far as that depends on mix().
  void assign(uint32_t number, Block* block);

  // For blocks that wait. `cores`: for those of vector cores, or for all.
  enum class Cores : uint8_t { kVector, kAll };
  void sync_all(Cores cores, const std::source_location& where);
  void set(uint32_t block, uint32_t event);
  void wait(uint32_t block, uint32_t event, const std::source_location& where);

  // Stops the blocks that run and drops the others; waits for their end, but not for ever.
  void stop();

 private:
  using Signal = std::pair<uint32_t, uint32_t>;  // block and event
  struct Waiter {
    std::binary_semaphore go{0};
    uint32_t block = 0;
    std::source_location where;
    const Signal* signal = nullptr;  // null: SyncAll
    Cores cores = Cores::kVector;    // of SyncAll
    bool is_hopeless = false;        // the launch has failed
  };

  // The following need mutex_.
  // Lets blocks begin or go on while fewer than `threads_` run.
  void dispatch();
  void fail(std::string why);
  void fail_deadlock();
  uint32_t vector_blocks() const { return count_ * vector_cores_; }

  // Parks the calling block, whose waiter is in waiting_. `lock` holds mutex_. Throws if the launch has failed.
  void park(std::unique_lock<std::mutex>* lock, Waiter* waiter);
  void end();

  const softnpuKernel kernel_;
  const uint32_t count_;  // blocks that the launch was given
  const uint32_t threads_;
  const int32_t device_;
  const std::vector<unsigned char> arguments_;
  const std::unique_ptr<check::CheckedLaunch> checks_;  // null where kernels are not checked

  std::mutex mutex_;  // guards the members down to failure_, which nobody writes after the end
  uint32_t total_;    // blocks that it has
  uint32_t vector_cores_ = 1;
  bool is_mixed_ = false;
  uint32_t next_ = 0;     // the first block that has not begun
  uint32_t running_ = 0;  // blocks that run and do not wait
  uint32_t ended_ = 0;
  std::array<uint32_t, 2> in_sync_all_{};  // by Cores
  std::deque<Waiter*> ready_;              // may go on
  std::list<Waiter*> waiting_;             // for others
  std::map<Signal, uint32_t> set_;         // signals nobody has waited for
  std::vector<pid_t> runners_;             // threads in run()
  std::string failure_;
  std::atomic<bool> has_ended_{false};

  std::mutex turn_mutex_;  // guards turn_
  softnpuTurn* turn_ = nullptr;
};

}  // namespace softnpu::kernel
