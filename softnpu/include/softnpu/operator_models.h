#pragma once
// What libascendcl calls of libacl_op_compiler, which it loads at the first single-operator model. Each has the
// arguments of the aclop function of its name. Errors leave their message in aclGetRecentErrMsg.

#include <stddef.h>

#include "acl/acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef aclError softnpuOpSetModelDir(const char* modelDir);
typedef aclError softnpuOpLoad(const void* model, size_t modelSize);
typedef aclError softnpuOpExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                  const aclDataBuffer* const inputs[], int numOutputs,
                                  const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                  const aclopAttr* attr, aclrtStream stream);
typedef aclError softnpuOpExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                    aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                    aclDataBuffer* outputs[], aclopAttr* attr, aclrtStream stream);
typedef aclError softnpuOpUpdateParams(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                       int numOutputs, const aclTensorDesc* const outputDesc[], const aclopAttr* attr);
typedef aclError softnpuOpCreateHandle(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                       int numOutputs, const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr,
                                       aclopHandle** handle);
typedef void softnpuOpDestroyHandle(aclopHandle* handle);
typedef aclError softnpuOpExecWithHandle(aclopHandle* handle, int numInputs, const aclDataBuffer* const inputs[],
                                         int numOutputs, aclDataBuffer* const outputs[], aclrtStream stream);

typedef struct softnpuOperatorModels {
  softnpuOpSetModelDir* setModelDir;
  softnpuOpLoad* load;
  softnpuOpExecute* execute;
  softnpuOpExecuteV2* executeV2;
  softnpuOpUpdateParams* updateParams;
  softnpuOpCreateHandle* createHandle;
  softnpuOpDestroyHandle* destroyHandle;
  softnpuOpExecWithHandle* execWithHandle;
} softnpuOperatorModels;

ACL_FUNC_VISIBILITY const softnpuOperatorModels* softnpuGetOperatorModels(void);

#ifdef __cplusplus
}
#endif
