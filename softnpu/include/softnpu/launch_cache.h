#pragma once
// Launches of aclnn operators again, on other tensors, without their first phase. In libopapi.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// It belongs to the caller of softnpuCacheLaunch. Any thread may launch it.
typedef struct softnpuCachedLaunch softnpuCachedLaunch;

// Between the phases of a call: makes a copy of what `executor` will do to the call's tensors, whose elements are in
// the `bytes` from `tensors` on; `executor` stays as it is. *cached is null where such a call has to be planned each
// time.
ACL_FUNC_VISIBILITY aclError softnpuCacheLaunch(const aclOpExecutor* executor, const void* const* tensors,
                                                const size_t* bytes, size_t count, softnpuCachedLaunch** cached);

// The same for launches on the same tensors only, of a small call that softnpuCacheLaunch does not cache; `executor`
// stays as it was. *workspaceBytes: the workspace that each launch needs.
ACL_FUNC_VISIBILITY aclError softnpuCacheFixedLaunch(const aclOpExecutor* executor, const void* const* tensors,
                                                     const size_t* bytes, size_t count, uint64_t* workspaceBytes,
                                                     softnpuCachedLaunch** cached);

// Launches the same call on other tensors with the same descriptions; those that began at one address have to do so
// again. `workspace`: null, if none is needed. Refused in a recording of operands (softnpu/trace.h) that began after
// the call was cached: then it has to be planned again.
ACL_FUNC_VISIBILITY aclError softnpuLaunchCached(const softnpuCachedLaunch* cached, const void* const* tensors,
                                                 void* workspace, aclrtStream stream);

// Takes null.
ACL_FUNC_VISIBILITY void softnpuReleaseCachedLaunch(softnpuCachedLaunch* cached);

#ifdef __cplusplus
}
#endif
