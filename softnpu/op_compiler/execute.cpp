// Operators invoked by type name: read, compiled or found in the cache, planned, launched.

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "base/border.h"
#include "op_compiler/compile_cache.h"
#include "op_compiler/launch_call.h"
#include "op_compiler/read_call.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::RegistryCall;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

Status read(const softnpu::CallArguments& arguments, aclopEngineType engine, aclopCompileType compile_type,
            RegistryCall* call) {
  SOFTNPU_RETURN_IF_ERROR(require(arguments.type, "opType"));
  SOFTNPU_RETURN_IF_ERROR(softnpu::check_kinds(engine, compile_type));
  return softnpu::read_call(arguments, softnpu::Reading::kAll, call);
}

}  // namespace

// Enqueues the operator. Its arguments are read before the call returns and may then be destroyed.
aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* /*opPath*/, aclrtStream stream) {
  return api(__func__, [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(read({opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr},
                                 engineType, compileFlag, &call));
    return softnpu::launch(&call, stream);
  });
}

// The same, but if the run determines an output's sizes it waits and writes them into the output's description.
aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* /*opPath*/, aclrtStream stream) {
  return api(__func__, [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(read({opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr},
                                 engineType, compileFlag, &call));
    SOFTNPU_RETURN_IF_ERROR(softnpu::launch(&call, stream));
    return softnpu::report_sizes(call.outputs, outputDesc, stream);
  });
}

aclError softnpuGetCompileStatistics(softnpuCompileStatistics* statistics) {
  return api(__func__, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(statistics, "statistics"));
    *statistics = softnpu::compile_statistics();
    return Status::ok();
  });
}
