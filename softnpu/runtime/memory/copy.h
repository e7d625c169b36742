#pragma once
// Copies and fills, checked against the allocations that they access.

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "runtime/process.h"

namespace softnpu {

struct CopyRequest {
  void* dst = nullptr;
  size_t dst_max = 0;
  const void* src = nullptr;
  size_t count = 0;
  aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
};

// Copies before it returns. Not ordered with any stream.
Status copy(Process& process, const CopyRequest& request);

// Copies in stream order. With pageable host memory, the call returns after the copy is done.
Status copy_async(Process& process, const CopyRequest& request, Stream& stream);

// `height` rows of `width` bytes; rows begin `dst_pitch` and `src_pitch` bytes apart.
struct PitchedCopyRequest {
  void* dst = nullptr;
  size_t dst_pitch = 0;
  const void* src = nullptr;
  size_t src_pitch = 0;
  size_t width = 0;
  size_t height = 0;
  aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
};

Status copy_pitched(Process& process, const PitchedCopyRequest& request);
Status copy_pitched_async(Process& process, const PitchedCopyRequest& request, Stream& stream);

Status fill(Process& process, void* dst, size_t dst_max, int32_t value, size_t count);
Status fill_async(Process& process, void* dst, size_t dst_max, int32_t value, size_t count, Stream& stream);

}  // namespace softnpu
