#pragma once
// The start and the end of a CANN program, and its last error.
// Facts: Ascend/pytorch (BSD-3-Clause), third_party/acl/inc/acl/acl.h (branch v2.1.0-7.0.0). See PROVENANCE.md.

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// configPath may be null. A second call returns ACL_ERROR_REPEAT_INITIALIZE and changes nothing.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize();
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

// The calling thread's newest error text, or null; it is handed out once and lives until the thread's next call.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg();

#ifdef __cplusplus
}
#endif
