#pragma once
// A cache of compiled operators.

#include <memory>

#include "nnopbase/registry_call.h"
#include "softnpu/softnpu.h"

namespace softnpu {

// The operator for `call`; compiled if it is not in the cache.
Status compiled_operator(const RegistryCall& call, std::shared_ptr<const CompiledOperator>* out);

// Makes the outputs of `call`: their types and sizes, -1 where the run determines one.
Status inferred_outputs(RegistryCall* call);

softnpuCompileStatistics compile_statistics();

}  // namespace softnpu
