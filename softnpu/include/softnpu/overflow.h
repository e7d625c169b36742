#pragma once
// Floating-point overflow: what the results of operators that are infinite or NaN do, and the flag that stays set.

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum softnpuOverflowMode {
  SOFTNPU_OVERFLOW_IGNORED = 0,
  SOFTNPU_OVERFLOW_FLAGGED = 1,    // sets the device's flag (aclrtSetStreamOverflowSwitch)
  SOFTNPU_OVERFLOW_SATURATED = 2,  // also becomes the largest number of its type; NaN becomes 0 (aclrtSetDeviceSatMode)
} softnpuOverflowMode;

// 0 until a device or a stream of the process watches for overflow: phase one then keeps nothing for it.
ACL_FUNC_VISIBILITY int32_t softnpuWatchesOverflow(void);

// What counts for work that is given to `stream` now.
ACL_FUNC_VISIBILITY softnpuOverflowMode softnpuGetOverflowMode(aclrtStream stream);

// The flag of a device. They do nothing, and return 0, if the device is not set up.
ACL_FUNC_VISIBILITY int32_t softnpuGetOverflow(int32_t deviceId);
ACL_FUNC_VISIBILITY void softnpuClearOverflow(int32_t deviceId);
// Sets the flag of the device that owns `address`.
ACL_FUNC_VISIBILITY void softnpuRaiseOverflow(const void* address);

#ifdef __cplusplus
}
#endif
