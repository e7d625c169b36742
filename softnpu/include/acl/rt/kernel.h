#pragma once
// Kernels as binaries: those that the command `ascendc` makes with -c. A software NPU runs no binaries for NPUs.
// Facts: Ascend/pytorch (BSD-3-Clause) at c4840e3c, third_party/acl/inc/acl/acl_rt.h; at 9e73e708,
// torch_npu/_inductor/codegen: npu/device_op_overrides.py, cpp_wrapper_npu.py. See PROVENANCE.md.

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                                     const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                                    aclrtFuncHandle* funcHandle);
// `hostArgs` are the arguments, `argsSize` bytes, placed as in a C structure; they are copied. No places for addresses
// are supported: `placeHolderArray` is null.
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                           aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                           void* hostArgs, size_t argsSize, void* placeHolderArray,
                                                           size_t placeHolderNum);

#ifdef __cplusplus
}
#endif
