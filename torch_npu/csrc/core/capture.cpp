#include "core/capture.h"

#include <c10/util/Exception.h>

#include "core/acl.h"
#include "core/call_site.h"
#include "core/stream.h"

namespace torch_npu {

std::atomic<int> detail::captures{0};

aclmdlRI capture_of(c10::Stream stream) {
  if (!any_capture()) return nullptr;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  acl_check(aclmdlRICaptureGetInfo(runtime_handle(stream), &status, &model), "aclmdlRICaptureGetInfo");
  return status == ACL_MODEL_RI_CAPTURE_STATUS_NONE ? nullptr : model;
}

void refuse_in_capture(c10::DeviceIndex device, const char* what, const char* why) {
  if (!any_capture()) return;
  const c10::Stream stream = current_stream(device);
  if (capture_of(stream) == nullptr) return;
  (void)aclrtSynchronizeStream(runtime_handle(stream));  // fails, and invalidates the capture
  (void)aclGetRecentErrMsg();
  const std::string line = calling_line();
  TORCH_CHECK(false, what, line.empty() ? "" : " at ", line, " cannot be captured: ", why,
              " Run it before the capture, or end the graph before it and begin another one after it.",
              error_tail("ERR00007", "PTA feature not supported"));
}

RelaxedCapture::RelaxedCapture() : is_needed_(any_capture()) {
  if (is_needed_) acl_check(aclmdlRICaptureThreadExchangeMode(&mode_), "aclmdlRICaptureThreadExchangeMode");
}

RelaxedCapture::~RelaxedCapture() {
  if (is_needed_) acl_warn(aclmdlRICaptureThreadExchangeMode(&mode_), "aclmdlRICaptureThreadExchangeMode");
}

}  // namespace torch_npu
