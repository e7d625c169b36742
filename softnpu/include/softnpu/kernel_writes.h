#pragma once
// Write epochs (memory_events.h) of what a kernel may write: all memory that its arguments lead to.

#include <stddef.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Raises the epochs of each allocation that a word at any offset of [arguments, arguments + bytes) is an address in.
ACL_FUNC_VISIBILITY void softnpuBumpPointedTo(const void* arguments, size_t bytes);
// Reads the beginning of what those addresses, and addresses of pinned memory, point to. Where it has addresses of
// device memory, a kernel may follow them: raises all epochs of their devices. To be called when what the kernel will
// read there is written; until then tasks find epochs later than their launch.
ACL_FUNC_VISIBILITY void softnpuBumpReachable(const void* arguments, size_t bytes);

#ifdef __cplusplus
}
#endif
