#pragma once
// out = beta * self + alpha * mat1 @ mat2; self is broadcast to out, [m, n]. With beta 0 self is not read.
// dtype: float32. cubeMathType 0 keeps the dtype; the other values allow less precision, which nothing here uses.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat1,
                                                           const aclTensor* mat2, const aclScalar* beta,
                                                           const aclScalar* alpha, aclTensor* out, int8_t cubeMathType,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif
