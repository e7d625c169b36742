#pragma once
// What happens to device memory, for those who keep something that was computed from it. Included by softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A clock that each write to any device's memory moves on, when it is launched and not when it runs: aclnn's operators,
// copies and fills do. Bytes that are written by other ways have to be told by softnpuMarkWritten, before they are.
// What a task finds where the last mark is no later than its own launch is what was to be written by then.
ACL_FUNC_VISIBILITY uint64_t softnpuWriteClock(void);
ACL_FUNC_VISIBILITY void softnpuMarkWritten(const void* address, size_t bytes);
// The clock when [address, address + bytes), or what lies within 512 bytes of it, was marked last. UINT64_MAX where
// nobody knows: the range is no device memory, other processes may write it, or it is mapped at several addresses.
ACL_FUNC_VISIBILITY uint64_t softnpuLastWritten(const void* address, size_t bytes);

typedef struct softnpuMemoryListener {
  // Nobody wants the bytes of the range any more: they were freed or unmapped, or their device was reset.
  void (*released)(const void* address, size_t bytes);
  // The device is out of memory. What is given back now serves the allocation that failed.
  void (*pressed)(int32_t deviceId);
} softnpuMemoryListener;

// Calls `listener`'s functions, on any thread, until the process ends.
ACL_FUNC_VISIBILITY aclError softnpuListenToMemory(const softnpuMemoryListener* listener);
// For an allocator that cuts allocations into blocks: a block was freed. Blocks of less than 16 KiB need no word.
ACL_FUNC_VISIBILITY void softnpuReleased(const void* address, size_t bytes);
// Memory, to be freed by softnpuFree, of the device that `address` belongs to; null where it has none left. Never
// presses on listeners.
ACL_FUNC_VISIBILITY void* softnpuMallocBeside(const void* address, size_t bytes);
// 1 where at least half of the memory of the device that `address` belongs to is free.
ACL_FUNC_VISIBILITY int32_t softnpuHasRoom(const void* address);
// aclrtFree under a name of its own: a library that stands in for aclrtFree sees what the program frees and no more.
ACL_FUNC_VISIBILITY aclError softnpuFree(void* address);

#ifdef __cplusplus
}
#endif
