#pragma once
// Operators invoked by type name, one table for all families.

#include <memory>
#include <span>

#include "ops/registry/operands.h"

namespace softnpu {

struct OperatorType {
  const char* name;
  // Checks everything of the call except its addresses.
  Status (*compile)(const TypedCall& call, std::unique_ptr<const CompiledOperator>* out);
};

// Operators with their own compilation.
std::span<const OperatorType> operator_types();

// Operators planned like aclnn operators: compilation only checks how their operands are given.
struct PlannedType {
  const char* name;
  const char* inputs;  // see check_operands
  size_t outputs;
  Status (*plan)(Operands& of, Plan* plan);
  bool takes_blocked_formats = false;  // for planners that do not depend on the order of elements in memory
};

// One span per family.
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
