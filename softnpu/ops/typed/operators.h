#pragma once
// Operators by the name of their type, one table for all families.

#include <memory>
#include <span>

#include "ops/typed/operands.h"

namespace softnpu {

struct OperatorType {
  const char* name;
  // Checks all of the call but its addresses.
  Status (*compile)(const TypedCall& call, std::unique_ptr<const CompiledOperator>* out);
};

// Operators with a compilation of their own.
std::span<const OperatorType> operator_types();

// Operators that are planned as an aclnn operator is: what there is to compile is how their operands are given.
struct PlannedType {
  const char* name;
  const char* inputs;  // see check_operands
  size_t outputs;
  Status (*plan)(Operands& of, Plan* plan);
  bool takes_blocked_formats = false;  // in formats with blocks, whose elements the planner does not look for
};

// A span for each family.
std::span<const std::span<const PlannedType>> planned_types();

std::span<const PlannedType> elementwise_types();
std::span<const PlannedType> gradient_types();
std::span<const PlannedType> reduction_types();
std::span<const PlannedType> shape_types();
std::span<const PlannedType> index_types();
std::span<const PlannedType> format_types();
std::span<const PlannedType> matmul_types();
std::span<const PlannedType> image_types();
std::span<const PlannedType> norm_types();
std::span<const PlannedType> loss_types();
std::span<const PlannedType> random_types();

}  // namespace softnpu
