#pragma once
// Operators by the name of their type, one table for all families.

#include <memory>
#include <span>

#include "nnopbase/typed_call.h"

namespace softnpu {

struct OperatorType {
  const char* name;
  // Checks all of the call but its addresses.
  Status (*compile)(const TypedCall& call, std::unique_ptr<const CompiledOperator>* out);
};

// Operators with a compilation of their own.
std::span<const OperatorType> operator_types();

// Operators that are planned as an aclnn operator is: what there is to compile is how many operands they have. Those
// that the run does not need may be left out of `inputs`.
struct PlannedType {
  const char* name;
  size_t inputs;
  size_t outputs;
  Status (*plan)(TypedCall& call, Plan* plan);
};

std::span<const PlannedType> planned_types();

}  // namespace softnpu
