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

#ifdef __cplusplus
}
#endif
