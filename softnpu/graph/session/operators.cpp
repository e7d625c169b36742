#include "graph/session/operators.h"

#include <dlfcn.h>

namespace softnpu::graph {
namespace {

struct Operators {
  SoftnpuCompile* compile = nullptr;
  SoftnpuInferOutputs* infer_outputs = nullptr;
};

// Keeps the library loaded. RTLD_LOCAL: its symbols, such as oneDNN's, stay private.
Status load(Operators* out) {
  static const Operators operators = [] {
    void* library = dlopen("libopapi.so", RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](const char* name) { return library == nullptr ? nullptr : dlsym(library, name); };
    return Operators{reinterpret_cast<SoftnpuCompile*>(find("softnpuCompileOperator")),
                     reinterpret_cast<SoftnpuInferOutputs*>(find("softnpuInferOutputs"))};
  }();
  *out = operators;
  if (operators.compile != nullptr && operators.infer_outputs != nullptr) return Status::ok();
  return {ACL_ERROR_OP_NOT_FOUND, "softnpu's libopapi.so, which has the operators, does not load beside this library"};
}

}  // namespace

Status infer_outputs(TypedCall* call) {
  Operators operators;
  SOFTNPU_RETURN_IF_ERROR(load(&operators));
  Status status;
  operators.infer_outputs(call, &status);
  return status;
}

Status compile(const TypedCall& call, std::shared_ptr<const CompiledOperator>* out) {
  Operators operators;
  SOFTNPU_RETURN_IF_ERROR(load(&operators));
  Status status;
  operators.compile(&call, out, &status);
  return status;
}

}  // namespace softnpu::graph
