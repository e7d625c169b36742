#pragma once
// Calls of aclnn operators that are made again without their first phase. In libopapi.

#include <stddef.h>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// It belongs to who got it from softnpuKeep. Any thread may replay it.
typedef struct softnpuKept softnpuKept;

// Between the phases of a call: keeps what `executor` will do to the call's tensors, whose elements lie in the `bytes`
// from `tensors` on; `executor` stays as it is. *kept is null where such a call has to be planned each time.
ACL_FUNC_VISIBILITY aclError softnpuKeep(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes,
                                         size_t count, softnpuKept** kept);

// Launches the same call on other tensors, described like the first ones, where those that began at one address do so
// again.
ACL_FUNC_VISIBILITY aclError softnpuReplay(const softnpuKept* kept, const void* const* tensors, aclrtStream stream);

// Takes null.
ACL_FUNC_VISIBILITY void softnpuForget(softnpuKept* kept);

#ifdef __cplusplus
}
#endif
