// Functions that libacl_op_compiler exports and does not support: graphs of operators invoked by type name.

#include "base/unsupported.h"

#include "acl/acl_op_compiler.h"

using softnpu::unsupported;

namespace {

constexpr const char* kGraph = "operators called by the name of their type have no graphs yet: call the aclnn operator";

}  // namespace

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
