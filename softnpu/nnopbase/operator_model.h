#pragma once
// Single-operator models: files with the description of one operator. libsoftnpu_graph reads and writes them;
// libacl_op_compiler, which loads it at the first use, runs the operators.

#include <dlfcn.h>

#include <string>

#include "base/status.h"
#include "nnopbase/registry_call.h"

// A description is a RegistryCall without data and addresses. A size of -1 is any size, the sizes {-2} are any sizes of
// any rank.
extern "C" {

// Reads a model from `bytes` of memory. A model that has another content is an error of one sentence.
typedef void SoftnpuReadOperatorModel(const void* bytes, size_t size, softnpu::RegistryCall* out,
                                      softnpu::Status* status);
ACL_FUNC_VISIBILITY SoftnpuReadOperatorModel softnpuReadOperatorModel;

// The model's bytes.
typedef void SoftnpuWriteOperatorModel(const softnpu::RegistryCall* description, std::string* out);
ACL_FUNC_VISIBILITY SoftnpuWriteOperatorModel softnpuWriteOperatorModel;
}

namespace softnpu {

struct OperatorModelLibrary {
  SoftnpuReadOperatorModel* read = nullptr;
  SoftnpuWriteOperatorModel* write = nullptr;
};

// Loads libsoftnpu_graph at the first model and keeps it loaded.
inline Status load_operator_models(OperatorModelLibrary* out) {
  static const OperatorModelLibrary library = [] {
    void* handle = dlopen("libsoftnpu_graph.so", RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](const char* name) { return handle == nullptr ? nullptr : dlsym(handle, name); };
    return OperatorModelLibrary{reinterpret_cast<SoftnpuReadOperatorModel*>(find("softnpuReadOperatorModel")),
                                reinterpret_cast<SoftnpuWriteOperatorModel*>(find("softnpuWriteOperatorModel"))};
  }();
  *out = library;
  if (library.read != nullptr && library.write != nullptr) return Status::ok();
  return {ACL_ERROR_OP_LOAD_FAILED,
          "softnpu's libsoftnpu_graph.so, which reads models, does not load beside this library"};
}

}  // namespace softnpu
