// Functions that libascendcl exports and does not support: captured models, the profiler, NPU binaries.

#include "base/unsupported.h"

#include "acl/acl_mdl.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "runtime/rt.h"

using softnpu::unsupported;

namespace {

constexpr const char* kCapture = "tasks of a captured model cannot be updated yet: capture it again";
constexpr const char* kCondition =
    "captured models have no conditions yet: choose on the host, and launch what was chosen";
constexpr const char* kProfiler = "there is no profiler of CANN's yet: use torch.profiler, or events with time stamps";
constexpr const char* kBinary =
    "a software NPU runs no binaries made for NPUs: call an aclnn operator, or build the kernel for the host";

rtError_t unsupported_rt(const char* function, const char* sentence) {
  (void)unsupported(function, sentence);
  return RT_ERROR_FEATURE_NOT_SUPPROT;
}

template <typename T>
T* unsupported_object(const char* function, const char* sentence) {
  (void)unsupported(function, sentence);
  return nullptr;
}

}  // namespace

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream) { return unsupported(__func__, kCapture); }
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream, aclrtTaskGrp*) { return unsupported(__func__, kCapture); }
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream, aclrtTaskGrp) { return unsupported(__func__, kCapture); }
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream) { return unsupported(__func__, kCapture); }
aclError aclmdlRICaptureToModelRIBegin(aclrtStream, aclmdlRI, aclmdlRICaptureMode) {
  return unsupported(__func__, kCapture);
}

aclError aclprofInit(const char*, size_t) { return unsupported(__func__, kProfiler); }
aclError aclprofFinalize() { return unsupported(__func__, kProfiler); }
aclError aclprofStart(const aclprofConfig*) { return unsupported(__func__, kProfiler); }
aclError aclprofStop(const aclprofConfig*) { return unsupported(__func__, kProfiler); }
aclprofConfig* aclprofCreateConfig(uint32_t*, uint32_t, aclprofAicoreMetrics, const aclprofAicoreEvents*, uint64_t) {
  return unsupported_object<aclprofConfig>(__func__, kProfiler);
}
aclError aclprofDestroyConfig(const aclprofConfig*) { return unsupported(__func__, kProfiler); }
aclprofStepInfo* aclprofCreateStepInfo() { return unsupported_object<aclprofStepInfo>(__func__, kProfiler); }
void aclprofDestroyStepInfo(aclprofStepInfo*) { (void)unsupported(__func__, kProfiler); }
aclError aclprofGetStepTimestamp(aclprofStepInfo*, aclprofStepTag, aclrtStream) {
  return unsupported(__func__, kProfiler);
}

rtError_t rtDevBinaryRegister(const rtDevBinary_t*, void**) { return unsupported_rt(__func__, kBinary); }
rtError_t rtFunctionRegister(void*, const void*, const char*, const void*, uint32_t) {
  return unsupported_rt(__func__, kBinary);
}
rtError_t rtKernelLaunch(const void*, uint32_t, void*, uint32_t, rtSmDesc_t*, rtStream_t) {
  return unsupported_rt(__func__, kBinary);
}
rtError_t rtGetC2cCtrlAddr(uint64_t*, uint32_t*) {
  return unsupported_rt(__func__, "the cores of a software NPU have no memory to signal each other: use events");
}

// Programs look these up by name. No source states their arguments, so no header declares them.
extern "C" {
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask() { return unsupported(__func__, kCondition); }
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate() { return unsupported(__func__, kCondition); }
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr() { return unsupported(__func__, kCondition); }
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr() { return unsupported(__func__, kBinary); }
}
