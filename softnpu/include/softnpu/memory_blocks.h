#pragma once
// Blocks that an allocator cuts from memory of aclrtMalloc or aclrtMapMem: with them checked mode of kernels
// (SOFTNPU_KERNEL_CHECK) knows where each tensor ends. Included by softnpu.h.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// 1 where this process checks its kernels; constant. Where it is 0 the functions below do nothing, and need no call.
ACL_FUNC_VISIBILITY int32_t softnpuTracksBlocks(void);

// A block was handed out, for `bytes` bytes as they were asked for. `label` says by whom, such as "train.py:12"; null:
// unknown; it is copied. From its first block on, the allocation (or the run of mapped memory) counts as cut into
// blocks: kernels that are launched afterwards may touch it in live blocks only, up to each block's last unit of 32
// bytes. aclrtFree, aclrtUnmapMem and a reset of the device forget the blocks of what they release.
ACL_FUNC_VISIBILITY void softnpuBlockAllocated(const void* address, size_t bytes, const char* label);
// The block at `address` was taken back. Kernels that were launched before may still touch it.
ACL_FUNC_VISIBILITY void softnpuBlockFreed(const void* address);

typedef struct softnpuBlock {
  const void* address;  // null: there is none
  size_t bytes;         // as asked for
  const char* label;    // or null; stays
  int32_t isLive;       // 0: it was taken back, and nothing was handed out there since
} softnpuBlock;

// The blocks as they are now, for a launch; released by softnpuReleaseBlocks. Null where nothing was told, and where
// the host is out of memory.
typedef struct softnpuBlocks softnpuBlocks;
ACL_FUNC_VISIBILITY softnpuBlocks* softnpuTakeBlocks(void);
ACL_FUNC_VISIBILITY void softnpuReleaseBlocks(softnpuBlocks* blocks);
// 1 where the device address `address` is in an allocation that is cut into blocks: `*before` is then the last of them
// that begins at or before it, `*behind` the first that begins behind it.
ACL_FUNC_VISIBILITY int32_t softnpuFindBlock(const softnpuBlocks* blocks, const void* address, softnpuBlock* before,
                                             softnpuBlock* behind);

#ifdef __cplusplus
}
#endif
