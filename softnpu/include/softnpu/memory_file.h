#pragma once
// A device's memory as a file that other processes can map.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct softnpuMemoryFile {
  int32_t file;  // a descriptor that belongs to softnpu
  uint64_t bytes;
  void* base;    // the device address of its first byte
  void* kernel;  // where kernels of this process access that byte
} softnpuMemoryFile;

// Sets the device up if nothing has so far. The file stays until the process ends.
ACL_FUNC_VISIBILITY aclError softnpuGetMemoryFile(int32_t deviceId, softnpuMemoryFile* memory);

typedef struct softnpuLocation {
  int32_t deviceId;  // -1 for host memory
  int32_t isInFile;  // 1 where the range is one range of its device's memory file
  uint64_t offset;   // in that file
  // Where kernels access it. In the file it stays accessible whatever is freed or unmapped.
  void* kernel;
} softnpuLocation;

// Fails where [address, address + bytes) is neither in one live allocation of a device nor in pinned or registered
// host memory.
ACL_FUNC_VISIBILITY aclError softnpuLocate(const void* address, size_t bytes, softnpuLocation* location);

#ifdef __cplusplus
}
#endif
