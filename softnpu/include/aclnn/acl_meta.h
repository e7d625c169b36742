#pragma once
// The objects that aclnn operators take. They describe; the data stays the caller's.
// Facts: call sites in Ascend/pytorch and Ascend/op-plugin (BSD-3-Clause), ggml (MIT). See PROVENANCE.md.

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A view of `viewDimsNum` dimensions: strides and offset in elements; stride null means contiguous. The storage's
// dimensions describe the whole allocation in `format`. Null where an argument makes no sense; see aclGetRecentErrMsg.
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                                               const int64_t* stride, int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

// A copy of the number of type `dataType` at `value`.
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

// A repeatable executor may be launched any number of times and is then destroyed by aclDestroyAclOpExecutor.
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

#ifdef __cplusplus
}
#endif
