#pragma once
// What happens to device memory, for those who keep something that was computed from it. Included by softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Write epochs: a counter that each write to any device's memory raises when it is launched, not when it runs. aclnn's
// operators, copies and fills do so, and tasks that say what they write (launch.h, steps.h); who writes in other ways
// calls softnpuBumpWriteEpoch before. A task that finds the epoch of some bytes no later than softnpuLaunchEpoch()
// finds in them what was to be written by then.
ACL_FUNC_VISIBILITY uint64_t softnpuWriteEpoch(void);
ACL_FUNC_VISIBILITY void softnpuBumpWriteEpoch(const void* address, size_t bytes);
// The epoch of the last write to [address, address + bytes), or within 512 bytes of it. UINT64_MAX where it is unknown:
// the range is no device memory, other processes may write it, or it is mapped at several addresses.
ACL_FUNC_VISIBILITY uint64_t softnpuLastWriteEpoch(const void* address, size_t bytes);

typedef struct softnpuMemoryListener {
  // The range was freed or unmapped, or its device was reset.
  void (*freed)(const void* address, size_t bytes);
  // The device is out of memory. What is freed now serves the allocation that failed.
  void (*on_out_of_memory)(int32_t deviceId);
} softnpuMemoryListener;

// Calls `listener`'s functions, on any thread, until the process ends.
ACL_FUNC_VISIBILITY aclError softnpuListenToMemory(const softnpuMemoryListener* listener);
// For an allocator that cuts allocations into blocks: a block was freed. Blocks of less than 16 KiB need no call.
ACL_FUNC_VISIBILITY void softnpuMemoryFreed(const void* address, size_t bytes);
// Memory, to be freed by softnpuFree, of the device that `address` belongs to; null where it has none left. Calls no
// listener.
ACL_FUNC_VISIBILITY void* softnpuTryMallocSameDevice(const void* address, size_t bytes);
// 1 where at least half of the memory of the device that `address` belongs to is free.
ACL_FUNC_VISIBILITY int32_t softnpuHasRoom(const void* address);
// aclrtFree under a name of its own: a library that stands in for aclrtFree sees what the program frees and no more.
ACL_FUNC_VISIBILITY aclError softnpuFree(void* address);

#ifdef __cplusplus
}
#endif
