// Operators invoked by type name: read, compiled or found in the cache, planned, launched.

#include <span>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "ascendcl/tensor_desc.h"
#include "base/border.h"
#include "nnopbase/call_tensors.h"
#include "nnopbase/written.h"
#include "op_compiler/compile_cache.h"
#include "op_compiler/read_call.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;
using softnpu::text;
using softnpu::TypedCall;
using softnpu::TypedTensor;

namespace {

// The arguments of both functions.
struct Arguments {
  const char* type;
  int input_count;
  const aclTensorDesc* const* input_descs;
  const aclDataBuffer* const* inputs;
  int output_count;
  const aclTensorDesc* const* output_descs;
  const aclDataBuffer* const* outputs;
  const aclopAttr* attributes;
  aclopEngineType engine;
  aclopCompileType compile_type;
};

Status read(const Arguments& arguments, TypedCall* call) {
  SOFTNPU_RETURN_IF_ERROR(require(arguments.type, "opType"));
  if (arguments.engine < ACL_ENGINE_SYS || arguments.engine > ACL_ENGINE_VECTOR) {
    return {ACL_ERROR_INVALID_PARAM, text("there is no engine ", static_cast<int>(arguments.engine))};
  }
  if (arguments.compile_type != ACL_COMPILE_SYS && arguments.compile_type != ACL_COMPILE_UNREGISTERED) {
    return {ACL_ERROR_INVALID_PARAM, text("there is no compile type ", static_cast<int>(arguments.compile_type))};
  }
  call->type = arguments.type;
  SOFTNPU_RETURN_IF_ERROR(softnpu::read_tensors("input", arguments.input_count, arguments.input_descs, arguments.inputs,
                                                softnpu::Reading::kAll, &call->inputs));
  SOFTNPU_RETURN_IF_ERROR(softnpu::read_tensors("output", arguments.output_count, arguments.output_descs,
                                                arguments.outputs, softnpu::Reading::kAll, &call->outputs));
  return softnpu::read_attributes(arguments.attributes, &call->attributes);
}

// Errors contain the type name: a program that calls many operators through one function has no other way to tell them
// apart.
Status launch(TypedCall* call, aclrtStream stream) {
  const auto body = [&]() -> Status {
    std::shared_ptr<const softnpu::CompiledOperator> compiled;
    SOFTNPU_RETURN_IF_ERROR(softnpu::compiled_operator(*call, &compiled));
    softnpu::Plan plan;
    SOFTNPU_RETURN_IF_ERROR(compiled->plan(call, &plan));
    if (softnpuWatchesOverflow() != 0) {
      for (const TypedTensor& input : call->inputs) softnpu::collect_input(&input.tensor);
    }
    for (const TypedTensor& output : call->outputs) softnpu::add_written(&output.tensor, &plan);
    return softnpu::launch_plan(compiled->name(), std::move(plan), stream);
  };
  const Status status = body();
  return status.is_ok() ? status : Status(status.code(), text(call->type, ": ", status.message()));
}

// Waits for sizes that the run determines, and writes them into the descriptions.
Status report_sizes(std::span<const TypedTensor> outputs, aclTensorDesc* const* descs, aclrtStream stream) {
  bool waited = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].tensor.shape == nullptr) continue;
    if (!waited) {
      if (const aclError code = aclrtSynchronizeStream(stream); code != ACL_SUCCESS) {
        const char* reason = aclGetRecentErrMsg();
        return {code, reason == nullptr ? "the stream failed" : reason};
      }
      waited = true;
    }
    softnpu::Dims dims;
    if (!outputs[i].tensor.shape->get(&dims)) continue;
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(softnpu::tensor_descs().find(descs[i], &desc));
    desc->dims.assign(dims.begin(), dims.end());
  }
  return Status::ok();
}

}  // namespace

// Enqueues the operator. Its arguments are read before the call returns and may then be destroyed.
aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* /*opPath*/, aclrtStream stream) {
  return api(__func__, [&]() -> Status {
    TypedCall call;
    SOFTNPU_RETURN_IF_ERROR(read(
        {opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr, engineType, compileFlag}, &call));
    return launch(&call, stream);
  });
}

// The same, but if the run determines an output's sizes it waits and writes them into the output's description.
aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* /*opPath*/, aclrtStream stream) {
  return api(__func__, [&]() -> Status {
    TypedCall call;
    SOFTNPU_RETURN_IF_ERROR(read(
        {opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr, engineType, compileFlag}, &call));
    SOFTNPU_RETURN_IF_ERROR(launch(&call, stream));
    return report_sizes(call.outputs, outputDesc, stream);
  });
}

aclError softnpuGetCompileStatistics(softnpuCompileStatistics* statistics) {
  return api(__func__, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(statistics, "statistics"));
    *statistics = softnpu::compile_statistics();
    return Status::ok();
  });
}
