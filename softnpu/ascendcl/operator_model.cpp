// Operators of single-operator models: libacl_op_compiler runs them.

#include <dlfcn.h>

#include "acl/acl_op.h"
#include "ascendcl/api.h"
#include "softnpu/operator_models.h"

using softnpu::api;
using softnpu::guarded;
using softnpu::Status;

namespace {

const softnpuOperatorModels* operator_models() {
  static const softnpuOperatorModels* models = [] {
    void* library = dlopen("libacl_op_compiler.so", RTLD_NOW | RTLD_LOCAL);
    void* function = library == nullptr ? nullptr : dlsym(library, "softnpuGetOperatorModels");
    return function == nullptr ? nullptr : reinterpret_cast<decltype(&softnpuGetOperatorModels)>(function)();
  }();
  return models;
}

// Calls a function of the library, which reports its errors itself.
template <typename Function, typename... Arguments>
aclError forward(const char* name, Function* const softnpuOperatorModels::*function, Arguments... arguments) {
  const softnpuOperatorModels* models = operator_models();
  if (models != nullptr) return (models->*function)(arguments...);
  return api(name, [] {
    return Status(
        ACL_ERROR_OP_LOAD_FAILED,
        "softnpu's libacl_op_compiler.so, which runs operators by their type, does not load beside this library");
  });
}

}  // namespace

aclError aclopSetModelDir(const char* modelDir) {
  return forward(__func__, &softnpuOperatorModels::setModelDir, modelDir);
}

aclError aclopLoad(const void* model, size_t modelSize) {
  return forward(__func__, &softnpuOperatorModels::load, model, modelSize);
}

aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
                      aclDataBuffer* const outputs[], const aclopAttr* attr, aclrtStream stream) {
  return forward(__func__, &softnpuOperatorModels::execute, opType, numInputs, inputDesc, inputs, numOutputs,
                 outputDesc, outputs, attr, stream);
}

aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                        int numOutputs, aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr,
                        aclrtStream stream) {
  return forward(__func__, &softnpuOperatorModels::executeV2, opType, numInputs, inputDesc, inputs, numOutputs,
                 outputDesc, outputs, attr, stream);
}

aclError aclopUpdateParams(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* attr) {
  return forward(__func__, &softnpuOperatorModels::updateParams, opType, numInputs, inputDesc, numOutputs, outputDesc,
                 attr);
}

aclError aclopCreateHandle(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr, aclopHandle** handle) {
  return forward(__func__, &softnpuOperatorModels::createHandle, opType, numInputs, inputDesc, numOutputs, outputDesc,
                 opAttr, handle);
}

void aclopDestroyHandle(aclopHandle* handle) {
  guarded([&] {
    if (operator_models() != nullptr) operator_models()->destroyHandle(handle);
  });
}

aclError aclopExecWithHandle(aclopHandle* handle, int numInputs, const aclDataBuffer* const inputs[], int numOutputs,
                             aclDataBuffer* const outputs[], aclrtStream stream) {
  return forward(__func__, &softnpuOperatorModels::execWithHandle, handle, numInputs, inputs, numOutputs, outputs,
                 stream);
}
