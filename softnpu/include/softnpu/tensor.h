#pragma once
// Tensor descriptors that a caller keeps and uses again, as torch_npu does. In libopapi.

#include <stdint.h>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Describes `tensor` anew; the arguments are those of aclCreateTensor. Where it fails the tensor stays as it is.
ACL_FUNC_VISIBILITY aclnnStatus softnpuInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                                                  aclDataType dataType, const int64_t* stride, int64_t offset,
                                                  aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                                                  void* tensorData);

#ifdef __cplusplus
}
#endif
