#pragma once
// Kernels as binaries. A software NPU runs no NPU binaries: all of these are unsupported.
// Facts: Ascend/pytorch (BSD-3-Clause) at c4840e3c, third_party/acl/inc/acl/acl_rt.h and
// torch_npu/_inductor/codegen/npu/device_op_overrides.py. See PROVENANCE.md.

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                                     const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                                    aclrtFuncHandle* funcHandle);

#ifdef __cplusplus
}
#endif
