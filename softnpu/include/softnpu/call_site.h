#pragma once
// Lines of the program in errors of queued work.

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// The line of the program that calls this thread's next operators, as "train.py:12": errors that such an operator finds
// in its data, when it runs, name it. Copied; null for none. In libnnopbase.
ACL_FUNC_VISIBILITY void softnpuSetCallSite(const char* site);

#ifdef __cplusplus
}
#endif
