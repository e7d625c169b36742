#pragma once
// Operators that were compiled, by what they were compiled for.

#include <memory>

#include "nnopbase/typed_call.h"
#include "softnpu/softnpu.h"

namespace softnpu {

// The operator for `call`, compiled where the cache does not have it.
Status compiled_operator(const TypedCall& call, std::shared_ptr<const CompiledOperator>* out);

softnpuCompileStatistics compile_statistics();

}  // namespace softnpu
