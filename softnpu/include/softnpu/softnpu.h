#pragma once
// What softnpu exports beside CANN's names. Look these up with dlsym: on a real CANN they are absent.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// "softnpu 0.1.0"; never null.
ACL_FUNC_VISIBILITY const char* softnpuVersion(void);

// Distance in bytes from a device address to the address at which a kernel on the host reads the same byte, for
// every address of the device. Zero unless SOFTNPU_PROTECT=1.
ACL_FUNC_VISIBILITY aclError softnpuKernelOffset(int32_t deviceId, ptrdiff_t* offset);

// The device's address range: every device pointer lies in [base, base + size). The device must be set up.
ACL_FUNC_VISIBILITY aclError softnpuDeviceRange(int32_t deviceId, void** base, size_t* size);

// Calls `function` with the device's number from each aclrtResetDevice, before it drops anything, until the process
// ends.
ACL_FUNC_VISIBILITY aclError softnpuOnDeviceReset(void (*function)(int32_t deviceId));

// The address at which a kernel on the host reads the device address `address`. Fails where [address, address +
// bytes) does not lie in one live allocation of a device, or in pinned or registered host memory.
ACL_FUNC_VISIBILITY aclError softnpuKernelAddress(const void* address, size_t bytes, void** kernel);

// The instructions that kernels on the host may use at most: SOFTNPU_CPU_CAPABILITY.
typedef enum softnpuCpuCapability {
  SOFTNPU_CPU_DEFAULT = 0,  // all that the machine has
  SOFTNPU_CPU_AVX2 = 1,
  SOFTNPU_CPU_AVX512 = 2,
} softnpuCpuCapability;

ACL_FUNC_VISIBILITY softnpuCpuCapability softnpuGetCpuCapability(void);

// ---- what is made from device memory, and kept ----

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

// 0 where SOFTNPU_PACK=0: weights are packed anew in each run.
ACL_FUNC_VISIBILITY int32_t softnpuKeepsPackedWeights(void);
// SOFTNPU_SPLIT: 1 and 0 where it says whether HF32 goes as products of bfloat16; -1 where it is not set.
ACL_FUNC_VISIBILITY int32_t softnpuSplitsProducts(void);
// The memory that packed copies of a device's weights take; it counts among the device's. In libopapi.
ACL_FUNC_VISIBILITY aclError softnpuGetPackedBytes(int32_t deviceId, uint64_t* bytes);

// ---- launches ----

// What decides where work on an idle stream runs.
typedef enum softnpuCost {
  SOFTNPU_COST_LARGE = 0,  // on the device's executor
  SOFTNPU_COST_SMALL = 1,  // serial, tens of microseconds at most: on the caller's thread
  // Over, with several threads, before handing it over would have paid: on the caller's thread, unless the executor ran
  // something of late, since its threads would be in the way.
  SOFTNPU_COST_SHORT = 2,
} softnpuCost;

// Work that one of softnpu's libraries gives to a stream.
typedef struct softnpuTask {
  const char* name;  // the operator's, a literal
  int32_t cost;      // a softnpuCost
  // Does the work. Where it fails it returns an aclError and writes a sentence of at most `size` bytes.
  aclError (*run)(void* state, char* message, size_t size);
  void (*release)(void* state);  // called exactly once: after the run, when the work is dropped, when launching fails
  void* state;
} softnpuTask;

// Enqueues `task`. Its failure is returned by the stream's next synchronisation.
ACL_FUNC_VISIBILITY aclError softnpuLaunch(aclrtStream stream, const softnpuTask* task);

// How tasks of one kind that stand behind one another in a stream go together. Both get their states, in order, and how
// many of the tasks, from the first on, may see what each makes; SIZE_MAX where others may.
typedef struct softnpuJoin {
  // How many of the first may; at least one.
  size_t (*count)(void* const* states, const size_t* seenWithin, size_t count);
  // Does the work of these, as if one came after the other; what nobody else can see need not be made. Where it fails
  // it returns an aclError and writes a sentence of at most `size` bytes.
  aclError (*run)(void* const* states, const size_t* seenWithin, size_t count, char* message, size_t size);
} softnpuJoin;

// The same for a task that may go together with others of `join`; SOFTNPU_FUSE=0 keeps them apart. `result`: the device
// memory that it makes something in, where softnpuDiscard may be told of it; or null.
ACL_FUNC_VISIBILITY aclError softnpuLaunchJoinable(aclrtStream stream, const softnpuTask* task, const softnpuJoin* join,
                                                   const void* result);

// For an allocator: [address, address + bytes) was freed, and what it holds is read by no task that is given to
// `stream` or another from now on. A task of the stream that has not run yet and whose result lies there need not make
// it.
ACL_FUNC_VISIBILITY aclError softnpuDiscard(aclrtStream stream, const void* address, size_t bytes);

// How many tasks of a device have gone together with the one before them since the process began.
ACL_FUNC_VISIBILITY aclError softnpuGetJoinedTasks(int32_t deviceId, uint64_t* count);

// Makes `message` what aclGetRecentErrMsg says next on this thread.
ACL_FUNC_VISIBILITY void softnpuSetRecentError(const char* function, aclError code, const char* message);

// Operators that were called by the name of their type since the process began. In libacl_op_compiler.
typedef struct softnpuCompileStatistics {
  uint64_t compiled;  // calls whose operator was made
  uint64_t reused;    // calls whose operator was there
  uint64_t kept;      // operators that are there now
} softnpuCompileStatistics;

ACL_FUNC_VISIBILITY aclError softnpuGetCompileStatistics(softnpuCompileStatistics* statistics);

#ifdef __cplusplus
}
#endif
