// Stream capture: not implemented.

#include "acl/acl_mdl.h"
#include "ascendcl/api.h"

using softnpu::api;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return api("aclmdlRICaptureGetInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    SOFTNPU_RETURN_IF_ERROR(require(modelRI, "modelRI"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    *modelRI = nullptr;
    return Status::ok();
  });
}
