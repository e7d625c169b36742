#pragma once
// The operators that programs loaded as single-operator models, or compiled by aclopCompile.

#include <string>

#include "nnopbase/registry_call.h"

namespace softnpu {

// Adds the operator of a model; one that is loaded already is replaced.
Status add_operator_model(const void* bytes, size_t size);
void add_operator_model(RegistryCall description);
// Adds all files of a folder that end in .om. An error names the file; the folder's other models are then not loaded.
Status add_operator_models_of(const std::string& folder);

// Whether an operator of this type, with these descriptions and attributes, is loaded. The error lists those of the
// type that are, else the types that are.
Status find_operator_model(const RegistryCall& call);

// Writes the model of `call` into `folder`, which is created. The name has the type and a hash of the content.
Status write_operator_model(const RegistryCall& call, const std::string& folder, bool overwrites);

}  // namespace softnpu
