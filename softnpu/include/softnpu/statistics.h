#pragma once
// What softnpu counts. Included by softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many tasks of a device ran fused with the one before them since the process began.
ACL_FUNC_VISIBILITY aclError softnpuGetFusedTasks(int32_t deviceId, uint64_t* count);

// The memory that packed copies of a device's weights take; it counts among the device's. In libopapi.
ACL_FUNC_VISIBILITY aclError softnpuGetPackedBytes(int32_t deviceId, uint64_t* bytes);

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
