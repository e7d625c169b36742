#pragma once
// What libopapi exports to the libraries that call operators by the names of their types.

#include <dlfcn.h>

#include "base/status.h"
#include "nnopbase/registry_call.h"

namespace softnpu {

struct OperatorLibrary {
  SoftnpuCompile* compile = nullptr;
  SoftnpuInferOutputs* infer_outputs = nullptr;
};

// Loads libopapi at the first operator and keeps it loaded. RTLD_LOCAL: its symbols, such as oneDNN's, stay private.
inline Status load_operators(OperatorLibrary* out) {
  static const OperatorLibrary operators = [] {
    void* library = dlopen("libopapi.so", RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](const char* name) { return library == nullptr ? nullptr : dlsym(library, name); };
    return OperatorLibrary{reinterpret_cast<SoftnpuCompile*>(find("softnpuCompileOperator")),
                           reinterpret_cast<SoftnpuInferOutputs*>(find("softnpuInferOutputs"))};
  }();
  *out = operators;
  if (operators.compile != nullptr && operators.infer_outputs != nullptr) return Status::ok();
  return {ACL_ERROR_OP_NOT_FOUND, "softnpu's libopapi.so, which has the operators, does not load beside this library"};
}

}  // namespace softnpu
