#pragma once
// Compiler options, and operators that are compiled when they are called (libacl_op_compiler).
// Facts: Ascend/pytorch (BSD-3-Clause) at c4840e3c, third_party/acl/inc/acl/acl_op_compiler.h;
// mindspore-ai/graphengine (Apache-2.0) at 9a3b0e99, 910/inc/external/acl/acl_op_compiler.h. See PROVENANCE.md.

#include "acl/acl_base.h"
#include "acl/acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclGraphDumpOption aclGraphDumpOption;

typedef enum {
  ACL_COMPILE_SYS = 0,
  ACL_COMPILE_UNREGISTERED = 1,
} aclopCompileType;

typedef enum {
  ACL_PRECISION_MODE = 0,
  ACL_AICORE_NUM = 1,
  ACL_AUTO_TUNE_MODE = 2,
  ACL_OP_SELECT_IMPL_MODE = 3,
  ACL_OPTYPELIST_FOR_IMPLMODE = 4,
  ACL_OP_DEBUG_LEVEL = 5,
  ACL_DEBUG_DIR = 6,
  ACL_OP_COMPILER_CACHE_MODE = 7,
  ACL_OP_COMPILER_CACHE_DIR = 8,
  ACL_OP_PERFORMANCE_MODE = 9,
  ACL_OP_JIT_COMPILE = 10,
  ACL_OP_DETERMINISTIC = 11,
  ACL_CUSTOMIZE_DTYPES = 12,
  ACL_OP_PRECISION_MODE = 13,
  ACL_ALLOW_HF32 = 14,
  ACL_PRECISION_MODE_V2 = 15,
  ACL_OP_DEBUG_OPTION = 16,
} aclCompileOpt;

typedef enum {
  ACL_OP_COMPILE_DEFAULT = 0,
  ACL_OP_COMPILE_FUZZ = 1,
} aclOpCompileFlag;

// --- options --- kept for the process and given back; Size counts the terminating zero. One that nobody set is empty,
// but ACL_OP_JIT_COMPILE is "disable".
ACL_FUNC_VISIBILITY aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
ACL_FUNC_VISIBILITY size_t aclGetCompileoptSize(aclCompileOpt opt);
ACL_FUNC_VISIBILITY aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);
ACL_FUNC_VISIBILITY aclError aclopSetCompileFlag(aclOpCompileFlag flag);

// --- operators --- compiled for their descriptions and attributes, and enqueued. Null inputs are descriptions of
// ACL_DT_UNDEFINED. The graph functions are unsupported so far. aclopCompile makes an operator one that aclopExecuteV2
// finds.
ACL_FUNC_VISIBILITY aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                          int numOutputs, const aclTensorDesc* const outputDesc[],
                                          const aclopAttr* attr, aclopEngineType engineType,
                                          aclopCompileType compileFlag, const char* opPath);
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], const aclDataBuffer* const inputs[],
    int numOutputs, const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[], const aclopAttr* attr,
    aclopEngineType engineType, aclopCompileType compileFlag, const char* opPath, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                                      aclDataBuffer* inputs[], int numOutputs,
                                                      aclTensorDesc* outputDesc[], aclDataBuffer* outputs[],
                                                      aclopAttr* attr, aclopEngineType engineType,
                                                      aclopCompileType compileFlag, const char* opPath,
                                                      aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclGenGraphAndDumpForOp(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], const aclDataBuffer* const inputs[],
    int numOutputs, const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[], const aclopAttr* attr,
    aclopEngineType engineType, const char* graphDumpPath, const aclGraphDumpOption* graphDumpOpt);
ACL_FUNC_VISIBILITY aclGraphDumpOption* aclCreateGraphDumpOpt();
ACL_FUNC_VISIBILITY aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt);

#ifdef __cplusplus
}
#endif
