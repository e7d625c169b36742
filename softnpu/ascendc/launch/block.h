#pragma once
// A block: one run of a kernel on an emulated core.

#include <cstdint>
#include <string>

#include "ascendc/sanitizer/run.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel {

// Runs block `index` of `launch`, which may be null, on the calling thread; empty, or why it failed. `*is_spent`
// becomes true where the kernel ended without unwinding: the thread should run no other.
std::string run_block(const softnpuKernel& kernel, uint32_t index, uint32_t count, const void* arguments,
                      Launch* launch, check::CheckedLaunch* checks, bool* is_spent);

}  // namespace softnpu::kernel
