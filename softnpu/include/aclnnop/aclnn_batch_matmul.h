#pragma once
// out = self @ mat2 of two stacks of matrices: [b, m, k] @ [b, k, n] -> [b, m, n].
// dtype: float32. cubeMathType 0 keeps the dtype; the other values allow less precision, which nothing here uses.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchMatMulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2,
                                                                 aclTensor* out, int8_t cubeMathType,
                                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchMatMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif
