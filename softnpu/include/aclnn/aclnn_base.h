#pragma once
// The common part of aclnn: status codes and the two phases. An operator X is
//   aclnnXGetWorkspaceSize(inputs, attributes, outputs, &workspaceSize, &executor)   checks and plans
//   aclnnX(workspace, workspaceSize, executor, stream)                               launches in stream order
// The executor serves one launch, unless it was made repeatable. Tensors may be destroyed after the second phase.
// Facts: call sites in Ascend/pytorch and Ascend/op-plugin (BSD-3-Clause), ggml (MIT). See PROVENANCE.md.

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t aclnnStatus;
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

static const aclnnStatus ACLNN_SUCCESS = 0;
static const aclnnStatus ACLNN_ERR_PARAM_NULLPTR = 161001;
static const aclnnStatus ACLNN_ERR_PARAM_INVALID = 161002;

// The library's begin and end, with the path of a settings file or null. Operators need neither call; both may be made
// more than once.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif
