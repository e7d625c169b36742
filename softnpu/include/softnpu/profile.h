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

#ifdef __cplusplus
}
#endif
