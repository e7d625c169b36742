#pragma once
// What a compiled Ascend C kernel exports, so that it can be found by its name and launched from packed arguments:
// `softnpu_entry_<kernel>`, a softnpuKernelEntry.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of this structure and of those that compiled kernels fill for the library (softnpu_kernel/*.h).
#define SOFTNPU_KERNEL_ENTRY_VERSION 4u

// A structure that every launch of a kernel reads from the address in one of its parameters (GET_TILING_DATA).
typedef struct softnpuKernelTiling {
  const char* type;
  size_t bytes;
  uint32_t parameter;  // its index
} softnpuKernelTiling;

typedef struct softnpuKernelEntry softnpuKernelEntry;
struct softnpuKernelEntry {
  uint32_t version;  // SOFTNPU_KERNEL_ENTRY_VERSION
  uint32_t line;     // of the kernel
  const char* name;
  const char* file;
  // One character a parameter, those of Python's module struct: P a pointer, e half, E bfloat16, f d ? b B h H i I q Q;
  // s: a structure.
  const char* parameters;
  size_t bytes;  // of all arguments, placed as the members of a C structure are
  // Enqueues `blocks` blocks of the kernel on `stream` with a copy of the `bytes` bytes. TILING_KEY_IS compares with
  // `tilingKey`. Returns an aclError.
  int (*launch)(const softnpuKernelEntry* entry, uint32_t blocks, void* stream, const void* arguments,
                uint64_t tilingKey);
  const softnpuKernelTiling* tilings;  // those known when the kernel was compiled
  size_t tilingCount;
};

#ifdef __cplusplus
}
#endif
