// Functions that libascendcl exports and does not support: captured models, steps of profiles, NPU binaries.

#include "base/unsupported.h"

#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "runtime/rt.h"

using softnpu::unsupported;

namespace {

constexpr const char* kCapture = "a capture makes a new model";
constexpr const char* kCondition =
    "captured models have no conditions yet: choose on the host, and launch what was chosen";
constexpr const char* kSteps =
    "steps of a profile have no time stamps yet: record events, or use aclprofStart and aclprofStop";
constexpr const char* kBinary =
    "a software NPU runs no binaries made for NPUs: call an aclnn operator, or build the kernel for the host";

rtError_t unsupported_rt(const char* function, const char* sentence) {
  (void)unsupported(function, sentence);
  return RT_ERROR_FEATURE_NOT_SUPPROT;
}

constexpr const char* kCast =
    "casts with and without truncation are not implemented: call aclopCompileAndExecute with the type Cast";

template <typename T>
T* unsupported_object(const char* function, const char* sentence) {
  (void)unsupported(function, sentence);
  return nullptr;
}

}  // namespace

aclError aclmdlRICaptureToModelRIBegin(aclrtStream, aclmdlRI, aclmdlRICaptureMode) {
  return unsupported(__func__, kCapture);
}

aclError aclopCast(const aclTensorDesc*, const aclDataBuffer*, const aclTensorDesc*, aclDataBuffer*, uint8_t,
                   aclrtStream) {
  return unsupported(__func__, kCast);
}
aclError aclopCreateHandleForCast(aclTensorDesc*, aclTensorDesc*, uint8_t, aclopHandle**) {
  return unsupported(__func__, kCast);
}
aclError aclopCreateKernel(const char*, const char*, const char*, void*, int, aclopEngineType, aclDataDeallocator) {
  return unsupported(__func__, kBinary);
}
aclError aclopRegisterCompileFunc(const char*, aclopCompileFunc) { return unsupported(__func__, kBinary); }
aclError aclopUnregisterCompileFunc(const char*) { return unsupported(__func__, kBinary); }
aclError aclopSetKernelArgs(aclopKernelDesc*, const char*, uint32_t, const void*, uint32_t) {
  return unsupported(__func__, kBinary);
}
aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc*, int, size_t*) { return unsupported(__func__, kBinary); }

aclprofStepInfo* aclprofCreateStepInfo() { return unsupported_object<aclprofStepInfo>(__func__, kSteps); }
void aclprofDestroyStepInfo(aclprofStepInfo*) { (void)unsupported(__func__, kSteps); }
aclError aclprofGetStepTimestamp(aclprofStepInfo*, aclprofStepTag, aclrtStream) {
  return unsupported(__func__, kSteps);
}

rtError_t rtDevBinaryRegister(const rtDevBinary_t*, void**) { return unsupported_rt(__func__, kBinary); }
rtError_t rtFunctionRegister(void*, const void*, const char*, const void*, uint32_t) {
  return unsupported_rt(__func__, kBinary);
}
rtError_t rtKernelLaunch(const void*, uint32_t, void*, uint32_t, rtSmDesc_t*, rtStream_t) {
  return unsupported_rt(__func__, kBinary);
}
// No source states the arguments of these two, so no header declares them.
extern "C" {
ACL_FUNC_VISIBILITY aclError rtDevBinaryUnRegister() { return unsupported(__func__, kBinary); }
ACL_FUNC_VISIBILITY aclError rtLaunch() { return unsupported(__func__, kBinary); }
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
