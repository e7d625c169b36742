#pragma once
// Copies and fills, checked against the allocations that they touch.

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

// Done when it returns. It is not ordered with any stream.
Status copy(Process& process, const CopyRequest& request);

// In stream order. Where pageable host memory takes part the call returns when the copy is done.
Status copy_async(Process& process, const CopyRequest& request, Stream& stream);

// `height` rows of `width` bytes that begin `dst_pitch` and `src_pitch` bytes apart.
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
