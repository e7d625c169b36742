#pragma once
// How a compiled kernel is launched: the interface between the code that the `ascendc` driver writes and the library.

#include <stddef.h>
#include <stdint.h>

#include "softnpu/kernel_entry.h"

#ifdef __cplusplus
extern "C" {
#endif

// A kernel and one call of it. The structure and its strings are literals of the program. `name` comes first in every
// version.
typedef struct softnpuKernel {
  const char* name;
  // Runs the kernel once, as the block of the calling thread, with the arguments that the launch copied.
  void (*run)(const void* arguments);
  const char* file;  // of the launch
  uint32_t line;
  uint64_t tiling_key;  // which variant TILING_KEY_IS takes
} softnpuKernel;

// Enqueues `blocks` blocks of `kernel` on `stream` (an aclrtStream; null: the default stream), with a copy of the
// `bytes` bytes at `arguments`. Returns an aclError; the kernel's own failure comes with the stream's next
// synchronisation. `version` is the SOFTNPU_KERNEL_ENTRY_VERSION that the kernel was compiled with: another one than
// the library's is an error.
__attribute__((visibility("default"))) int softnpuKernelEnqueue(uint32_t version, const softnpuKernel* kernel,
                                                                uint32_t blocks, void* stream, const void* arguments,
                                                                size_t bytes);

// What says where the program is that launches, for the reports of checked mode, such as "train.py:12"; null: nothing.
// `site` is called by softnpuKernelEnqueue on the launching thread; its result has to stay until the thread's next
// call.
__attribute__((visibility("default"))) void softnpuKernelSetLaunchSite(const char* (*site)(void));

#ifdef __cplusplus
}
#endif
