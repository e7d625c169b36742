#pragma once
// What softnpu exports beside CANN's names. Look these up with dlsym: on a real CANN they are absent.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "softnpu/launch.h"
#include "softnpu/memory_blocks.h"
#include "softnpu/memory_events.h"
#include "softnpu/statistics.h"
#include "softnpu/tuning.h"

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

// Releases the device with all its contexts, streams and memory at once, however often aclrtSetDevice was called.
ACL_FUNC_VISIBILITY aclError softnpuReleaseDevice(int32_t deviceId);

// Calls `function` with the device's number from each reset that releases it, before anything is dropped, until the
// process ends.
ACL_FUNC_VISIBILITY aclError softnpuOnDeviceReset(void (*function)(int32_t deviceId));

// 1 on a thread that runs a function of the program which a stream waits for (aclrtLaunchHostFunc, aclrtLaunchCallback,
// softnpuLaunch): a wait for that stream would never end there.
ACL_FUNC_VISIBILITY int32_t softnpuInCallback(void);

// The address at which a kernel on the host reads the device address `address`. Fails where [address, address +
// bytes) does not lie in one live allocation of a device, or in pinned or registered host memory.
ACL_FUNC_VISIBILITY aclError softnpuKernelAddress(const void* address, size_t bytes, void** kernel);
// The same for callers whose error says more: it records none.
ACL_FUNC_VISIBILITY aclError softnpuProbeAddress(const void* address, size_t bytes, void** kernel);

// The instructions that kernels on the host may use at most: SOFTNPU_CPU_CAPABILITY.
typedef enum softnpuCpuCapability {
  SOFTNPU_CPU_DEFAULT = 0,  // all that the machine has
  SOFTNPU_CPU_AVX2 = 1,
  SOFTNPU_CPU_AVX512 = 2,
} softnpuCpuCapability;

ACL_FUNC_VISIBILITY softnpuCpuCapability softnpuGetCpuCapability(void);

// 0 where SOFTNPU_PACK=0: weights are packed anew in each run.
ACL_FUNC_VISIBILITY int32_t softnpuKeepsPackedWeights(void);
// SOFTNPU_SPLIT: 1 and 0 where it says whether HF32 goes as products of bfloat16; 2 where that is timed against
// float32; -1 where it is not set.
ACL_FUNC_VISIBILITY int32_t softnpuSplitsProducts(void);
#ifdef __cplusplus
}
#endif
