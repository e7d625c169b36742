#pragma once
// Memory shared with other processes.
// Facts: Ascend/pytorch (BSD-3-Clause) at c4840e3c, third_party/acl/inc/acl/acl_rt.h and
// torch_npu/csrc/core/npu/interface/AclInterface.cpp. See PROVENANCE.md.

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// `key` has room for ACL_IPC_HANDLE_SIZE bytes.
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flag);
// softnpu's check is the system's: processes of the same user. The list is looked at for its form only.
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flag);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);
// The number of the calling process outside of containers' own numbering, as far as the system tells it.
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

#ifdef __cplusplus
}
#endif
