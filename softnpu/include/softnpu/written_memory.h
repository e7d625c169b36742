#pragma once
// Which bytes of an allocator's blocks (memory_blocks.h) something has written since the block was handed out: what
// checked mode of kernels (SOFTNPU_KERNEL_CHECK) knows of uninitialised tensors.

#include <stddef.h>

#include "acl/acl_base.h"
#include "softnpu/memory_blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

// A checked kernel writes [address, address + bytes), device memory. Copies, memsets and operators are known without.
ACL_FUNC_VISIBILITY void softnpuKernelWrote(const void* address, size_t bytes);
// The first byte of [address, address + bytes) that is in the live block at `address` and that nothing has written;
// null: there is none. Memory of no block, of one that was taken back or handed out since `blocks` were taken, and
// memory that other processes may write, counts as written. `*writtenUntil`: the bytes before it, from `address` on,
// are written.
ACL_FUNC_VISIBILITY const void* softnpuFirstUnwritten(const softnpuBlocks* blocks, const void* address, size_t bytes,
                                                      const void** writtenUntil);

#ifdef __cplusplus
}
#endif
