#pragma once
// What libmsprofiler exports under CANN's names; libascendcl has it.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_prof.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError softnpuProfileWarmup(const aclprofConfig* config);
// `type`: an aclprofConfigType.
ACL_FUNC_VISIBILITY aclError softnpuProfileSet(uint32_t type, const char* value, size_t length);
// With a stream, the mark belongs to it.
ACL_FUNC_VISIBILITY aclError softnpuProfileMark(const char* message, size_t length, aclrtStream stream);

// If SOFTNPU_PROFILE names a folder, begins a profile of all devices in it, once, which ends with the process.
ACL_FUNC_VISIBILITY aclError softnpuProfileFromEnvironment(void);

#ifdef __cplusplus
}
#endif
