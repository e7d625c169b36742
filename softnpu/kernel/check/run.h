#pragma once
// Runs blocks in checked mode.

#include <memory>

#include "kernel/check/report.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel::check {

// What a launch of `kernel` by the calling thread collects its reports in; null where kernels are not checked.
std::unique_ptr<LaunchReports> begin_launch(const softnpuKernel& kernel);

// Runs `kernel` as `block`, the calling thread's; what is found goes to `reports`. Throws what the kernel throws for a
// reason that is no check's.
void run_checked(const softnpuKernel& kernel, const Block& block, const void* arguments, LaunchReports* reports);

// What is wrong with the variables that ask for checks, with which no kernel can be launched; null: nothing.
const char* settings_error();

// The kernel of run_checked() ended on this thread without unwinding: keeps what was found.
void abandon(LaunchReports* reports);

// A header refuses something: keeps it as a report of the calling thread's block.
void refuse(const char* sentence, const std::source_location& where);

}  // namespace softnpu::kernel::check
