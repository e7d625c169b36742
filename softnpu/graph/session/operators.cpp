#include "graph/session/operators.h"

#include "nnopbase/operator_library.h"

namespace softnpu::graph {

Status infer_outputs(RegistryCall* call) {
  OperatorLibrary operators;
  SOFTNPU_RETURN_IF_ERROR(load_operators(&operators));
  Status status;
  operators.infer_outputs(call, &status);
  return status;
}

Status compile(const RegistryCall& call, std::shared_ptr<const CompiledOperator>* out) {
  OperatorLibrary operators;
  SOFTNPU_RETURN_IF_ERROR(load_operators(&operators));
  Status status;
  operators.compile(&call, out, &status);
  return status;
}

}  // namespace softnpu::graph
