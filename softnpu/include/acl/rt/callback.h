#pragma once
// Functions of the program in stream order.
// Facts: Ascend/pytorch (BSD-3-Clause) at c4840e3c, third_party/acl/inc/acl/acl_rt.h. See PROVENANCE.md.

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// `fn` runs on the thread that serves the stream: one that is subscribed and loops over aclrtProcessReport. With
// ACL_CALLBACK_BLOCK the stream goes on when `fn` has returned.
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                                                 aclrtStream stream);
// threadId: pthread_self() of the thread that will serve it.
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);
// Runs the next waiting function of this thread's streams; waits up to `timeout` ms for one, -1 for ever.
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);
// `func` runs on a thread of softnpu; the stream goes on when it has returned.
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args);

#ifdef __cplusplus
}
#endif
