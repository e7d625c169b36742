#include "graph/session/device_memory.h"

#include "acl/acl.h"

namespace softnpu::graph {

Status status_of(aclError code) {
  if (code == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {code, reason == nullptr ? "the runtime failed" : reason};
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) (void)aclrtFree(data_);
}

Status DeviceMemory::allocate(size_t bytes) {
  if (bytes == 0) return Status::ok();
  return status_of(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
}

}  // namespace softnpu::graph
