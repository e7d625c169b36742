#pragma once
// Executes the instructions of a block's pipes in an order that the flags allow: eagerly, as late as possible, or drawn
// from a seed. Used by the block's thread alone.

#include <cstddef>
#include <memory>

#include "ascendc/sanitizer/pipe_queues.h"
#include "ascendc/sanitizer/settings.h"

namespace softnpu::kernel::check {

class Scheduler {
 public:
  // The order of block `block` depends on the settings and on the program alone.
  Scheduler(const Settings& settings, uint32_t block);

  // Copies `instruction` to its pipe.
  void issue(const Instruction& instruction);
  void set_flag(const Flag& flag, const std::source_location& where);
  // On the scalar unit other pipes go on until the flag is set; the caller has made sure that it will be.
  void wait_flag(const Flag& flag, const std::source_location& where);
  // Executes what `pipe` was given; it may not wait for a flag that is not set by then.
  void finish(Pipe pipe);
  // Executes all that is queued; nothing may wait for a flag that is not set by then.
  void drain();

 private:
  struct Stored {
    std::unique_ptr<std::byte[]> bytes;
  };
  struct Token {};
  struct Executor {
    static void run(Pipe pipe, Stored& work);
    static Token set(Pipe) { return {}; }
    static void wait(Pipe, const Token&) {}
  };

  void after_push();
  void advance_late(Pipe pipe);
  void random_step();
  uint64_t random();

  Schedule schedule_;
  uint64_t random_state_;
  Executor executor_;
  PipeQueues<Stored, Token, Executor> queues_;
};

}  // namespace softnpu::kernel::check
