#pragma once
// Runs blocks in checked mode.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ascendc/sanitizer/launch_memory.h"
#include "ascendc/sanitizer/report.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel::check {

// What all blocks of a launch share.
struct CheckedLaunch {
  CheckedLaunch(std::string site, const void* arguments, size_t bytes)
      : reports(std::move(site)), memory(arguments, bytes) {}
  LaunchReports reports;
  LaunchMemory memory;
};

// For a launch of `kernel` by the calling thread; null where kernels are not checked. `arguments` outlive it.
std::unique_ptr<CheckedLaunch> begin_launch(const softnpuKernel& kernel, const void* arguments, size_t bytes);

// Runs `kernel` as `block`, the calling thread's; what is found goes to the launch's reports. Throws what the kernel
// throws for a reason that is no check's.
void run_checked(const softnpuKernel& kernel, const Block& block, const void* arguments, CheckedLaunch* launch);

// What is wrong with the variables that ask for checks, with which no kernel can be launched; null: nothing.
const char* settings_error();

// The kernel of run_checked() ended on this thread without unwinding: keeps what was found.
void abandon(CheckedLaunch* launch);

// A header refuses something, which is one of `check`: keeps it as a report of the calling thread's block.
void refuse(Check check, const char* sentence, const std::source_location& where);

}  // namespace softnpu::kernel::check
