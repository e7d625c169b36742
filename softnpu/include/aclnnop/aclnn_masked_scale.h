#pragma once
// y = self * mask * scale, element by element.
// dtype: self, y float32; mask float32, bool, uint8. All of one shape, without gaps and overlaps, in the same order.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause); scale is passed as a double there. See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnMaskedScaleGetWorkspaceSize(const aclTensor* self, const aclTensor* mask,
                                                                 double scale, aclTensor* y, uint64_t* workspaceSize,
                                                                 aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnMaskedScale(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif
