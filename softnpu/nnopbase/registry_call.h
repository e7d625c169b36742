#pragma once
// Operators invoked by type name ("DynamicRNN"). libacl_op_compiler reads a call and launches its plan; libopapi, which
// it loads at the first call, compiles and plans.

#include <memory>
#include <string>
#include <vector>

#include "ascendcl/op_attr.h"
#include "nnopbase/executor.h"
#include "nnopbase/rebindable.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// One input or output. In blocked formats (nnopbase/format.h) `tensor.dims` are the sizes that the program sees and
// `tensor.storage_dims` those in memory; the strides are for other formats.
struct RegistryTensor {
  aclTensor tensor;
  std::string name;
  bool is_given = false;   // an operator's optional input may be omitted
  std::vector<char> host;  // the bytes of an input in host memory; `tensor.data` is then null
};

// The contents of a call, read from its handles.
struct RegistryCall {
  std::string type;
  std::vector<RegistryTensor> inputs;
  std::vector<RegistryTensor> outputs;
  std::shared_ptr<const aclopAttr> attributes;  // never null
};

// An operator compiled for the types, sizes, formats, host bytes and attributes of a call, all checked; only the
// addresses are open. Shared by threads, which may rebind it at once. Its operands are the storages' first bytes of the
// inputs, then of the outputs; null for one that is omitted or in host memory. rebind() sets `written`.
class CompiledOperator : public Rebindable {
 public:
  virtual const char* name() const = 0;  // has the lifetime of the process
};

// The operands of `call`.
inline std::vector<void*> operands_of(const RegistryCall& call) {
  std::vector<void*> operands;
  operands.reserve(call.inputs.size() + call.outputs.size());
  for (const RegistryTensor& input : call.inputs) operands.push_back(input.tensor.data);
  for (const RegistryTensor& output : call.outputs) operands.push_back(output.tensor.data);
  return operands;
}

}  // namespace softnpu

extern "C" {

// In libopapi. ACL_ERROR_OP_NOT_FOUND if there is no operator of that type.
typedef void SoftnpuCompile(const softnpu::RegistryCall* call,
                            std::shared_ptr<const softnpu::CompiledOperator>* compiled, softnpu::Status* status);
ACL_FUNC_VISIBILITY SoftnpuCompile softnpuCompileOperator;

// In libopapi. Makes the call's outputs: their types and sizes, -1 where the run determines one.
typedef void SoftnpuInferOutputs(softnpu::RegistryCall* call, softnpu::Status* status);
ACL_FUNC_VISIBILITY SoftnpuInferOutputs softnpuInferOutputs;
}
