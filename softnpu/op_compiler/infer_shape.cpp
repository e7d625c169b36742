// The types and sizes of an operator's results, without running it.

#include "acl/acl_op.h"
#include "ascendcl/tensor_desc.h"
#include "base/border.h"
#include "op_compiler/compile_cache.h"
#include "op_compiler/read_call.h"

using softnpu::api;
using softnpu::RegistryCall;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

Status put(const RegistryCall& call, int count, aclTensorDesc* const* descs) {
  if (static_cast<size_t>(count) != call.outputs.size()) {
    return {ACL_ERROR_INVALID_PARAM,
            text(call.type, ": ", count, " outputs, where ", call.outputs.size(), " are needed")};
  }
  std::vector<std::shared_ptr<aclTensorDesc>> found(call.outputs.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SOFTNPU_RETURN_IF_ERROR(softnpu::tensor_descs().find(descs[i], &found[i]));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const aclTensor& tensor = call.outputs[i].tensor;
    found[i]->dims.assign(tensor.dims.begin(), tensor.dims.end());
    found[i]->dtype = tensor.dtype;
  }
  return Status::ok();
}

}  // namespace

// Writes the types and sizes of the outputs into their descriptions; -1 for a size that the run determines. Inputs in
// device memory need no buffer. Numbers that decide sizes are in host memory.
aclError aclopInferShape(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                         int numOutputs, aclTensorDesc* outputDesc[], aclopAttr* attr) {
  return api(__func__, [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(require(opType, "opType"));
    if (numOutputs < 0) return {ACL_ERROR_INVALID_PARAM, text("a list of ", numOutputs, " outputs")};
    if (numOutputs > 0) SOFTNPU_RETURN_IF_ERROR(require(outputDesc, "outputDesc"));
    call.type = opType;
    SOFTNPU_RETURN_IF_ERROR(
        softnpu::read_tensors("input", numInputs, inputDesc, inputs, softnpu::Reading::kDescriptions, &call.inputs));
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_attributes(attr, &call.attributes));
    if (Status status = softnpu::inferred_outputs(&call); !status.is_ok()) {
      return {status.code(), text(call.type, ": ", status.message())};
    }
    return put(call, numOutputs, outputDesc);
  });
}
