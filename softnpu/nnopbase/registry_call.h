#pragma once
// Operators invoked by type name ("DynamicRNN"). libacl_op_compiler reads a call and launches its plan; libopapi, which
// it loads at the first call, compiles and plans.

#include <memory>
#include <string>
#include <vector>

#include "ascendcl/op_attr.h"
#include "nnopbase/executor.h"
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
// addresses are open. Shared by threads.
class CompiledOperator {
 public:
  CompiledOperator() = default;
  CompiledOperator(const CompiledOperator&) = delete;
  CompiledOperator& operator=(const CompiledOperator&) = delete;
  virtual ~CompiledOperator() = default;

  virtual const char* name() const = 0;  // has the lifetime of the process
  // `call` may differ from the compiled one in addresses only. An output gets a ShapeRecord if the run determines its
  // sizes.
  virtual Status plan(RegistryCall* call, Plan* plan) const = 0;
};

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
