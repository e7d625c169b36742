#pragma once
// Access to a call when an operator is compiled by type name.

#include <string>
#include <variant>

#include "base/text.h"
#include "nnopbase/registry_call.h"

namespace softnpu {

// The attribute, or `fallback` if the call does not have it. Another type is an error.
template <typename T>
Status read_attribute(const RegistryCall& call, const char* name, T fallback, T* out) {
  *out = std::move(fallback);
  const auto& values = call.attributes->values;
  const auto found = values.find(name);
  if (found == values.end()) return Status::ok();
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) return {ACL_ERROR_INVALID_PARAM, text("the attribute ", name, " has another type")};
  *out = *value;
  return Status::ok();
}

inline Status check_counts(const RegistryCall& call, size_t inputs, size_t outputs) {
  if (call.inputs.size() == inputs && call.outputs.size() == outputs) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text(call.inputs.size(), " inputs and ", call.outputs.size(), " outputs, where ",
                                        inputs, " and ", outputs, " are needed")};
}

// Checks an input that kernels read in device memory and that is not optional.
inline Status check_given(const RegistryTensor& tensor, const std::string& role) {
  if (!tensor.is_given) return {ACL_ERROR_INVALID_PARAM, role + " is left out"};
  if (tensor.host.empty()) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, role + " lies in host memory"};
}

}  // namespace softnpu
