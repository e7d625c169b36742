#pragma once
// A core in checked mode: what its block's program asks for is judged, and then executed by the schedule. One block's;
// used by its thread alone.

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "ascendc/sanitizer/block_accesses.h"
#include "ascendc/sanitizer/clock.h"
#include "ascendc/sanitizer/global_memory.h"
#include "ascendc/sanitizer/local_buffers.h"
#include "ascendc/sanitizer/pipe_queues.h"
#include "ascendc/sanitizer/report.h"
#include "ascendc/sanitizer/scheduler.h"
#include "ascendc/sanitizer/shadow.h"
#include "ascendc/sanitizer/sites.h"
#include "ascendc/sanitizer/touched.h"
#include "ascendc/timeline/block_trace.h"

namespace softnpu::kernel::check {

class Core {
 public:
  // `memory`: the launch's; outlives this, as `trace` does, which is null where no timeline is asked for.
  Core(const Block& block, const Settings& settings, LaunchMemory* memory, timeline::BlockTrace* trace);

  void issue(const Instruction& instruction);
  void scalar_access(const Memory& memory, uint64_t bytes, bool writes, const std::source_location& where);
  void set_flag(const Flag& flag, const std::source_location& where);
  void wait_flag(const Flag& flag, const std::source_location& where);
  void barrier(int pipe, const std::source_location& where);
  void local_event(LocalEvent event, const Memory& memory, const void* owner, const std::source_location& where);
  // The headers refuse something.
  void refuse(Check check, const char* sentence, const std::source_location& where);

  // What the block did to global memory since the last call.
  std::vector<LineAccesses> take_accesses() { return accesses_.take(); }
  uint32_t block() const { return block_.number; }

  // At the program's end: what is queued is done, flags and tensors are counted.
  void finish();
  // Executes what is issued, and checks nothing that has to end with the block.
  void drain() { scheduler_.drain(); }
  // The block meets others: in SyncAll, or by a signal.
  void broadcast_and_promote(timeline::Step::Kind kind, uint64_t signal = 0) {
    if (trace_ != nullptr) trace_->broadcast_and_promote(kind, signal);
  }
  std::vector<Report>& reports() { return reports_; }
  // With SOFTNPU_KERNEL_DROP=list: the lines that order pipes.
  const std::set<std::string>& ordering_lines() const { return ordering_lines_; }

 private:
  // What a pipe does to memory, in the order in which the flags let it.
  struct Work {
    uint32_t site = 0;
    uint32_t scalar_epoch = 0;
    bool is_atomic = false;
    std::vector<Range> reads;
    std::vector<Range> writes;
  };
  // Clocks of the pipes; every flag carries its setter's.
  struct Order {
    Core* core;
    std::array<Clock, kPipes> clocks;
    void run(Pipe pipe, Work& work) { core->judge(pipe, work); }
    Clock set(Pipe from);
    void wait(Pipe to, const Clock& token) { clocks[static_cast<int>(to)].join(token); }
  };

  void judge(Pipe pipe, const Work& work);
  void check_written(const std::vector<Range>& reads, const Site& site);
  void note_global(GlobalAccess access, const std::vector<Range>& ranges, uint32_t site);
  void judge(Access access, const std::vector<Range>& ranges, const Accessor& who);
  void report_finding(const Finding& finding, const Range& range, Access access, const Accessor& who);
  // Cuts `ranges` to what is in bounds; false where something was not. Scalar accesses end the kernel where there is no
  // memory.
  bool check_bounds(std::vector<Range>* ranges, bool writes, const Site& site);
  std::string check_range(Range* range, std::vector<std::string>* details);
  void check_freed();
  void forget(const Memory& memory);
  [[noreturn]] void stop_for_deadlock(const Flag* scalar_wait, const std::source_location& where);
  void report_deadlock(const Flag* scalar_wait, const std::source_location& where);
  bool drops(const std::source_location& where);
  bool check_event(const Flag& flag, const char* call, const std::source_location& where);

  // Null where the check is off or the lines were reported before. `is_fault`: what was asked for is not done, so that
  // it is reported whichever checks are on.
  Report* add(Check check, const Site& site, const std::source_location& other, bool is_fault = false);

  const Block& block_;
  const Settings& settings_;
  timeline::BlockTrace* const trace_;
  LocalBuffers buffers_;
  GlobalMemory global_;
  Shadow shadow_;
  BlockAccesses accesses_;
  Sites sites_;
  Touched touched_;
  Order order_;
  PipeQueues<Work, Clock, Order> pipes_;
  Scheduler scheduler_;
  struct Calls {
    int sets = 0;
    int waits = 0;
    std::source_location last_set;
    std::deque<bool> are_dropped;  // sets that nothing has waited for, with SOFTNPU_KERNEL_DROP
  };
  std::array<Calls, kFlags> calls_{};  // in the program's order
  std::vector<Finding> findings_;
  std::vector<Report> reports_;
  std::set<std::string> ordering_lines_;
};

}  // namespace softnpu::kernel::check
