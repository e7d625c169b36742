#include "ccl/api.h"

#include "acl/acl.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "ccl/acl_status.h"

namespace softnpu::ccl {

HcclResult result_of(const Status& status) {
  switch (status.code()) {
    case ACL_SUCCESS: return HCCL_SUCCESS;
    case ACL_ERROR_INVALID_PARAM:
    case ACL_ERROR_RT_PARAM_INVALID: return HCCL_E_PARA;
    case ACL_ERROR_BAD_ALLOC:
    case ACL_ERROR_RT_MEMORY_ALLOCATION: return HCCL_E_MEMORY;
    case ACL_ERROR_FEATURE_UNSUPPORTED: return HCCL_E_NOT_SUPPORT;
    case ACL_ERROR_RT_TASK_TIMEOUT: return HCCL_E_TIMEOUT;
    case ACL_ERROR_RT_SUSPECT_REMOTE_ERROR: return HCCL_E_REMOTE;
    default: return HCCL_E_INTERNAL;
  }
}

Handles<Communicator>& communicators() {
  static NoDestroy<Handles<Communicator>> handles("communicator");
  return handles.get();
}

Status find(HcclComm handle, std::shared_ptr<Communicator>* out) {
  SOFTNPU_RETURN_IF_ERROR(communicators().find(handle, out));
  return (*out)->check_process();
}

Status find_for(HcclComm handle, aclrtStream stream, std::shared_ptr<Communicator>* out) {
  SOFTNPU_RETURN_IF_ERROR(find(handle, out));
  if (const Status failure = (*out)->failure(); !failure.is_ok()) {
    return {failure.code(), text("communicator ", (*out)->name(), " has failed: ", failure.message())};
  }
  int32_t id = 0;
  return from_acl([&] { return aclrtStreamGetId(stream, &id); });
}

}  // namespace softnpu::ccl

const char* HcclGetErrorString(HcclResult code) {
  switch (code) {
    case HCCL_SUCCESS: return "success";
    case HCCL_E_PARA: return "an argument is invalid";
    case HCCL_E_PTR: return "a pointer is null";
    case HCCL_E_MEMORY: return "out of memory";
    case HCCL_E_INTERNAL: return "internal error";
    case HCCL_E_NOT_SUPPORT: return "not supported";
    case HCCL_E_TIMEOUT: return "another rank did not come in time";
    case HCCL_E_REMOTE: return "another rank failed or ended";
  }
  return "unknown error";
}
