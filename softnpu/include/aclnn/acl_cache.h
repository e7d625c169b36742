#pragma once
// What PyTorch's plug-in asks beside the operators: a cache of executors by the hash of a call, and a pool of host
// memory for their descriptions. softnpu has neither: nothing is ever found, and the plug-in plans each call.
// Facts: op_plugin/utils/op_api_common.{h,cpp} of Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY int InitHugeMemThreadLocal(void* arg, bool isShared);
ACL_FUNC_VISIBILITY void UnInitHugeMemThreadLocal(void* arg, bool isShared);
ACL_FUNC_VISIBILITY void ReleaseHugeMem(void* arg, bool isShared);

// False: calls of this operator are not looked up.
ACL_FUNC_VISIBILITY bool CanUsePTACache(const char* apiName);
ACL_FUNC_VISIBILITY void InitPTACacheThreadLocal(void);
ACL_FUNC_VISIBILITY void UnInitPTACacheThreadLocal(void);
ACL_FUNC_VISIBILITY void SetPTAHashKey(uint64_t hash);
ACL_FUNC_VISIBILITY void SetPTACacheHashKey(uint8_t* key, size_t size);
// Null: not found. A workspace size that is asked for is 0.
ACL_FUNC_VISIBILITY aclOpExecutor* PTAGetExecCache(uint64_t hash, uint64_t* workspaceSize);
ACL_FUNC_VISIBILITY aclOpExecutor* PTAFindExecCache(uint8_t* key, size_t size, uint64_t* workspaceSize);
ACL_FUNC_VISIBILITY void AddTensorAddrToCachedList(void* addr);

#ifdef __cplusplus
}
#endif
