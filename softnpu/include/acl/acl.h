#pragma once
// The start and the end of a CANN program, and its last error.
// Facts: Ascend/pytorch (BSD-3-Clause), third_party/acl/inc/acl/acl.h (branch v2.1.0-7.0.0). See PROVENANCE.md.

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

// configPath may be null. A second call returns ACL_ERROR_REPEAT_INITIALIZE and changes nothing.
// Before the first and after aclFinalize nothing can be made or run (ACL_ERROR_UNINITIALIZE); what is there can be
// destroyed, freed and reset, and the machine can be asked about.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);
ACL_FUNC_VISIBILITY aclError aclFinalize();
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);
// One use less of those that aclInit counted; `refCount` (may be null) is what is left. The last one finalizes.
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);
// The version of the package "runtime", "compiler", …; versionStr has room for ACL_PKG_VERSION_MAX_SIZE bytes.
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

// The calling thread's newest error text, or null; it is handed out once and lives until the thread's next call.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg();

#ifdef __cplusplus
}
#endif
