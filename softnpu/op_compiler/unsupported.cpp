// What libacl_op_compiler exports and cannot do yet: operators that are named by a string, their graphs.

#include "base/unsupported.h"

#include "acl/acl_op_compiler.h"

using softnpu::unsupported;

namespace {

constexpr const char* kOperator = "operators are not called by the name of their type yet: call the aclnn operator";
constexpr const char* kGraph = "operators called by the name of their type have no graphs yet: call the aclnn operator";

}  // namespace

aclError aclopCompileAndExecute(const char*, int, const aclTensorDesc* const[], const aclDataBuffer* const[], int,
                                const aclTensorDesc* const[], aclDataBuffer* const[], const aclopAttr*, aclopEngineType,
                                aclopCompileType, const char*, aclrtStream) {
  return unsupported(__func__, kOperator);
}

aclError aclopCompileAndExecuteV2(const char*, int, aclTensorDesc*[], aclDataBuffer*[], int, aclTensorDesc*[],
                                  aclDataBuffer*[], aclopAttr*, aclopEngineType, aclopCompileType, const char*,
                                  aclrtStream) {
  return unsupported(__func__, kOperator);
}

aclError aclGenGraphAndDumpForOp(const char*, int, const aclTensorDesc* const[], const aclDataBuffer* const[], int,
                                 const aclTensorDesc* const[], aclDataBuffer* const[], const aclopAttr*,
                                 aclopEngineType, const char*, const aclGraphDumpOption*) {
  return unsupported(__func__, kGraph);
}

aclGraphDumpOption* aclCreateGraphDumpOpt() {
  (void)unsupported(__func__, kGraph);
  return nullptr;
}

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption*) { return unsupported(__func__, kGraph); }
