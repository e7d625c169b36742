#pragma once
// Operators that are called by the name of their type ("DynamicRNN"). libacl_op_compiler reads a call and launches its
// plan; libopapi, which it loads when the first one comes, compiles and plans.

#include <memory>
#include <string>
#include <vector>

#include "ascendcl/op_attr.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// One input or output. In formats with blocks (nnopbase/format.h) `tensor.dims` are the sizes that the program sees and
// `tensor.storage_dims` those in memory; the strides hold for formats without.
struct TypedTensor {
  aclTensor tensor;
  std::string name;
  bool is_given = false;   // an operator's optional input may be left out
  std::vector<char> host;  // the bytes of an input in host memory; `tensor.data` is null then
};

// What a call says, read from its handles.
struct TypedCall {
  std::string type;
  std::vector<TypedTensor> inputs;
  std::vector<TypedTensor> outputs;
  std::shared_ptr<const aclopAttr> attributes;  // never null
};

// An operator for the types, sizes, formats, host bytes and attributes of a call, all checked; only addresses are open.
// Shared by threads.
class CompiledOperator {
 public:
  CompiledOperator() = default;
  CompiledOperator(const CompiledOperator&) = delete;
  CompiledOperator& operator=(const CompiledOperator&) = delete;
  virtual ~CompiledOperator() = default;

  virtual const char* name() const = 0;  // lives as long as the process
  // `call` differs in addresses only from the one that was compiled. An output whose sizes the run decides gets a
  // ShapeRecord.
  virtual Status plan(TypedCall* call, Plan* plan) const = 0;
};

}  // namespace softnpu

extern "C" {

// In libopapi. ACL_ERROR_OP_NOT_FOUND where no operator is of that type.
typedef void SoftnpuCompile(const softnpu::TypedCall* call, std::shared_ptr<const softnpu::CompiledOperator>* compiled,
                            softnpu::Status* status);
ACL_FUNC_VISIBILITY SoftnpuCompile softnpuCompileOperator;
}
