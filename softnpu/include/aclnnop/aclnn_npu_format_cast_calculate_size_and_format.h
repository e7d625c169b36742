#pragma once
// What aclnnNpuFormatCast's destination has to be. Facts: call sites in Ascend/pytorch (BSD-3-Clause). See
// PROVENANCE.md.

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// The sizes in memory of srcTensor's elements in the format dstFormat, an aclFormat; the caller frees dstShape with
// delete[]. additionalDtype, an aclDataType, is the type that FRACTAL_NZ's blocks are made for: C0 is 32 bytes of it;
// with ACL_DT_UNDEFINED C0 is 32 for elements of 1 byte, 16 for others. actualFormat is dstFormat.
ACL_FUNC_VISIBILITY aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor, int dstFormat,
                                                                         int additionalDtype, int64_t** dstShape,
                                                                         uint64_t* dstShapeSize, int* actualFormat);

#ifdef __cplusplus
}
#endif
