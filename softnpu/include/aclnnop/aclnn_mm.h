#pragma once
// out = self @ mat2; [m, k] @ [k, n] -> [m, n].
// dtype: float32. cubeMathType 0 keeps the dtype; the other values allow less precision, which nothing here uses.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
                                                        int8_t cubeMathType, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnMm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif
