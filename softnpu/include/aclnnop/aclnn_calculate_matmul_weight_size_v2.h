#pragma once
// The bytes that aclnnTransMatmulWeight needs for a weight of `tensorShape`, [n, k]. Computed at once, without an
// executor.
// Facts: a call site in ggml's CANN backend (MIT). See PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                                                 uint64_t* weightTensorSize);

#ifdef __cplusplus
}
#endif
