#pragma once
// The older interface to kernels in binaries. A software NPU runs no NPU binaries: all of these are unsupported.
// Facts: Ascend/pytorch (BSD-3-Clause) at 9e73e708, torch_npu/csrc/inductor/mlir/hacl_rt.h. See PROVENANCE.md.

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* rtStream_t;
typedef struct tagRtDevBinary rtDevBinary_t;
typedef struct tagRtSmCtrl rtSmDesc_t;

typedef enum tagRtError {
  RT_ERROR_NONE = 0x0,
  RT_ERROR_INVALID_VALUE = 0x1,
  RT_ERROR_FEATURE_NOT_SUPPROT = 0x17,
} rtError_t;

ACL_FUNC_VISIBILITY rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** handle);
ACL_FUNC_VISIBILITY rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char* stubName,
                                                 const void* devFunc, uint32_t funcMode);
ACL_FUNC_VISIBILITY rtError_t rtKernelLaunch(const void* stubFunc, uint32_t blockDim, void* args, uint32_t argsSize,
                                             rtSmDesc_t* smDesc, rtStream_t stream);
ACL_FUNC_VISIBILITY rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);

#ifdef __cplusplus
}
#endif
