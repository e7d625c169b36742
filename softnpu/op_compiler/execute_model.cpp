// Operators of single-operator models: found by type, descriptions and attributes, then launched as
// aclopCompileAndExecute launches them.

#include <atomic>
#include <utility>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "ascendcl/tensor_desc.h"
#include "base/border.h"
#include "base/handles.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "op_compiler/launch_call.h"
#include "op_compiler/operator_models.h"
#include "op_compiler/read_call.h"
#include "softnpu/operator_models.h"

using softnpu::api;
using softnpu::CallArguments;
using softnpu::Handles;
using softnpu::read_call;
using softnpu::Reading;
using softnpu::RegistryCall;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

// An operator whose model was found.
struct aclopHandle {
  RegistryCall call;  // without data
  std::vector<aclTensorDesc> inputs;
  std::vector<aclTensorDesc> outputs;
};

namespace {

Handles<aclopHandle>& handles() {
  static softnpu::NoDestroy<Handles<aclopHandle>> instance("handle of an operator");
  return instance.get();
}

aclError set_model_dir(const char* folder) {
  return api("aclopSetModelDir", [&]() -> Status {
    static std::atomic<bool> was_set{false};
    SOFTNPU_RETURN_IF_ERROR(require(folder, "modelDir"));
    if (was_set) return {ACL_ERROR_API_NOT_SUPPORT, "aclopSetModelDir was called before: aclopLoad loads more models"};
    SOFTNPU_RETURN_IF_ERROR(softnpu::add_operator_models_of(folder));
    was_set = true;
    return Status::ok();
  });
}

aclError load(const void* model, size_t size) {
  return api("aclopLoad", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(model, "model"));
    return softnpu::add_operator_model(model, size);
  });
}

Status execute(const CallArguments& arguments, aclrtStream stream, RegistryCall* call) {
  SOFTNPU_RETURN_IF_ERROR(read_call(arguments, Reading::kAll, call));
  SOFTNPU_RETURN_IF_ERROR(softnpu::find_operator_model(*call));
  return softnpu::launch(call, stream);
}

aclError execute_v1(const char* type, int input_count, const aclTensorDesc* const input_descs[],
                    const aclDataBuffer* const inputs[], int output_count, const aclTensorDesc* const output_descs[],
                    aclDataBuffer* const outputs[], const aclopAttr* attributes, aclrtStream stream) {
  return api("aclopExecute", [&]() -> Status {
    RegistryCall call;
    return execute({type, input_count, input_descs, inputs, output_count, output_descs, outputs, attributes}, stream,
                   &call);
  });
}

aclError execute_v2(const char* type, int input_count, aclTensorDesc* input_descs[], aclDataBuffer* inputs[],
                    int output_count, aclTensorDesc* output_descs[], aclDataBuffer* outputs[], aclopAttr* attributes,
                    aclrtStream stream) {
  return api("aclopExecuteV2", [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(execute(
        {type, input_count, input_descs, inputs, output_count, output_descs, outputs, attributes}, stream, &call));
    return softnpu::report_sizes(call.outputs, output_descs, stream);
  });
}

// Descriptions of a model are known as they are: there is nothing to compile for other sizes.
aclError update_params(const char* type, int input_count, const aclTensorDesc* const input_descs[], int output_count,
                       const aclTensorDesc* const output_descs[], const aclopAttr* attributes) {
  return api("aclopUpdateParams", [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(
        read_call({type, input_count, input_descs, nullptr, output_count, output_descs, nullptr, attributes},
                  Reading::kNoBuffers, &call));
    return softnpu::find_operator_model(call);
  });
}

Status copy_descs(int count, const aclTensorDesc* const* descs, std::vector<aclTensorDesc>* out) {
  for (int i = 0; i < count; ++i) {
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(softnpu::tensor_descs().find(descs[i], &desc));
    out->push_back(*desc);
  }
  return Status::ok();
}

aclError create_handle(const char* type, int input_count, const aclTensorDesc* const input_descs[], int output_count,
                       const aclTensorDesc* const output_descs[], const aclopAttr* attributes, aclopHandle** out) {
  return api("aclopCreateHandle", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(out, "handle"));
    auto result = std::make_shared<aclopHandle>();
    SOFTNPU_RETURN_IF_ERROR(
        read_call({type, input_count, input_descs, nullptr, output_count, output_descs, nullptr, attributes},
                  Reading::kNoBuffers, &result->call));
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_operator_model(result->call));
    SOFTNPU_RETURN_IF_ERROR(copy_descs(input_count, input_descs, &result->inputs));
    SOFTNPU_RETURN_IF_ERROR(copy_descs(output_count, output_descs, &result->outputs));
    *out = handles().add(std::move(result));
    return Status::ok();
  });
}

// Null is allowed, as for free().
void destroy_handle(aclopHandle* handle) {
  if (handle == nullptr) return;
  (void)api("aclopDestroyHandle", [&] { return handles().remove(handle); });
}

Status check_count(const char* role, int count, size_t needed) {
  if (count >= 0 && static_cast<size_t>(count) == needed) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text(count, " ", role, "s, where the handle has ", needed)};
}

aclError exec_with_handle(aclopHandle* handle, int input_count, const aclDataBuffer* const inputs[], int output_count,
                          aclDataBuffer* const outputs[], aclrtStream stream) {
  return api("aclopExecWithHandle", [&]() -> Status {
    std::shared_ptr<aclopHandle> found;
    SOFTNPU_RETURN_IF_ERROR(handles().find(handle, &found));
    SOFTNPU_RETURN_IF_ERROR(check_count("input", input_count, found->inputs.size()));
    SOFTNPU_RETURN_IF_ERROR(check_count("output", output_count, found->outputs.size()));
    RegistryCall call;
    call.type = found->call.type;
    call.attributes = found->call.attributes;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_tensors("input", found->inputs, inputs, &call.inputs));
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_tensors("output", found->outputs, outputs, &call.outputs));
    return softnpu::launch(&call, stream);
  });
}

}  // namespace

// Checks an operator and makes it one that aclopExecuteV2 finds.
aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                      const aclTensorDesc* const outputDesc[], const aclopAttr* attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char* /*opPath*/) {
  return api(__func__, [&]() -> Status {
    RegistryCall call;
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_kinds(engineType, compileFlag));
    SOFTNPU_RETURN_IF_ERROR(read_call({opType, numInputs, inputDesc, nullptr, numOutputs, outputDesc, nullptr, attr},
                                      Reading::kNoBuffers, &call));
    SOFTNPU_RETURN_IF_ERROR(softnpu::compile(call));
    softnpu::add_operator_model(std::move(call));
    return Status::ok();
  });
}

const softnpuOperatorModels* softnpuGetOperatorModels() {
  static const softnpuOperatorModels table = {&set_model_dir, &load,          &execute_v1,     &execute_v2,
                                              &update_params, &create_handle, &destroy_handle, &exec_with_handle};
  return &table;
}
