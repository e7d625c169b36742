#pragma once
// Runs blocks in checked mode.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ascendc/sanitizer/block_races.h"
#include "ascendc/sanitizer/launch_memory.h"
#include "ascendc/sanitizer/report.h"
#include "ascendc/timeline/launch_timeline.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel::check {

// What all blocks of a launch share.
struct CheckedLaunch {
  CheckedLaunch(const std::string& site, const char* name, uint32_t blocks, const void* arguments, size_t bytes)
      : kernel(name),
        launched(site),
        reports(site),
        memory(arguments, bytes),
        races(blocks, name, &memory),
        timeline(timeline::LaunchTimeline::begin(blocks)) {}
  // After the last block, some of which `has_failed`: prints what was found; returns the first report, or nothing.
  std::string finish(bool has_failed);
  // The launch has so many more blocks.
  void add_blocks(uint32_t count);

  const std::string kernel;
  const std::string launched;
  LaunchReports reports;
  LaunchMemory memory;
  BlockRaces races;
  const std::unique_ptr<timeline::LaunchTimeline> timeline;  // null: none is asked for
};

// For a launch of `blocks` blocks of `kernel` by the calling thread; null where kernels are not checked. `arguments`
// outlive it.
std::unique_ptr<CheckedLaunch> begin_launch(const softnpuKernel& kernel, uint32_t blocks, const void* arguments,
                                            size_t bytes);

// Runs `kernel` as `block`, the calling thread's; what is found goes to the launch's reports. Throws what the kernel
// throws for a reason that is no check's.
void run_checked(const softnpuKernel& kernel, const Block& block, const void* arguments, CheckedLaunch* launch);

// The calling thread's block meets others: before it waits in SyncAll, before it gives a signal, behind its wait for
// one. Nothing where it is not checked.
void before_sync_all();
void before_signal(uint32_t block, uint32_t event);
void behind_signal(uint32_t block, uint32_t event);

// What is wrong with the variables that ask for checks, with which no kernel can be launched; null: nothing.
const char* settings_error();

// The kernel of run_checked() ended on this thread without unwinding: keeps what was found.
void abandon(CheckedLaunch* launch);

// A header refuses something, which is one of `check`: keeps it as a report of the calling thread's block.
void refuse(Check check, const char* sentence, const std::source_location& where);

}  // namespace softnpu::kernel::check
