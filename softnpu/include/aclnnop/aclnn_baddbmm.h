#pragma once
// out = beta * self + alpha * batch1 @ batch2; self is broadcast to out, [b, m, n]. With beta 0 self is not read.
// dtype: float32. cubeMathType 0 keeps the dtype; the other values allow less precision, which nothing here uses.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnBaddbmmGetWorkspaceSize(const aclTensor* self, const aclTensor* batch1,
                                                             const aclTensor* batch2, const aclScalar* beta,
                                                             const aclScalar* alpha, aclTensor* out,
                                                             int8_t cubeMathType, uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBaddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif
