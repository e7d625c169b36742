#pragma once
// selfRef = 1 with probability prob, else 0, for each element. The numbers follow from seed and offset alone.
// dtype: float32, bool, uint8; without gaps and overlaps between the elements, numbered as they lie in memory.
// prob: 0 to 1.
// Facts: call sites in Ascend/op-plugin (BSD-3-Clause). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceBernoulliGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* prob,
                                                                      int64_t seed, int64_t offset,
                                                                      uint64_t* workspaceSize,
                                                                      aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceBernoulli(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif
