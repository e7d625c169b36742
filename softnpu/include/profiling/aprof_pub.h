#pragma once
// What libraries report to the profiler. Without a profiler that listens, reports are dropped.
// Facts: Ascend/pytorch (BSD-3-Clause) at 9e73e708, third_party/acl/inc/profiling/aprof_pub.h. See PROVENANCE.md.

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct MsprofApi;  // its reader is the profiler

// Called with PROF_CTRL_SWITCH and a command when profiling starts and stops.
typedef int32_t (*ProfCommandHandle)(uint32_t type, void* data, uint32_t len);

// All but the last two return 0 for success.
ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
ACL_FUNC_VISIBILITY int32_t MsprofReportApi(uint32_t nonPersistantFlag, const struct MsprofApi* api);
ACL_FUNC_VISIBILITY int32_t MsprofReportCompactInfo(uint32_t nonPersistantFlag, void* data, uint32_t length);
ACL_FUNC_VISIBILITY int32_t MsprofReportAdditionalInfo(uint32_t nonPersistantFlag, void* data, uint32_t length);
// The same number for the same text, in every process.
ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char* hashInfo, size_t length);
// Nanoseconds of the system's monotonic clock.
ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime(void);

#ifdef __cplusplus
}
#endif
