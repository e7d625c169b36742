#pragma once
// The operators of libopapi, which is loaded at the first use.

#include <memory>

#include "nnopbase/registry_call.h"

namespace softnpu::graph {

// Makes the outputs of the call: their types and sizes.
Status infer_outputs(RegistryCall* call);
// Checks everything of a call but its addresses.
Status compile(const RegistryCall& call, std::shared_ptr<const CompiledOperator>* out);

}  // namespace softnpu::graph
