#pragma once
// The operators that are called by the name of their type, and the types of a graph's nodes: one table for all
// families, generated from the rows in this folder and in the tables of functions (softnpu/opgen/types.py).

#include <memory>
#include <span>
#include <string_view>

#include "ops/registry/operands.h"

namespace softnpu {

enum class OperandKind : uint8_t {
  kTensor,    // in device memory
  kOptional,  // the same; may be omitted
  kList,      // any number of tensors, the last input
  kHost,      // integers in host memory
  kNumber,    // one number in host memory
  kValue,     // a tensor, or one number in host memory
};

struct OperandRow {
  const char* name;
  OperandKind kind = OperandKind::kTensor;
  bool is_optional = false;
};

enum class AttributeKind : uint8_t { kBool, kInt, kFloat, kString, kInts };

struct AttributeRow {
  const char* name;
  AttributeKind kind;
  double number = 0;  // the default of a number
  const char* words = "";
};

struct OperatorRow {
  const char* name;
  std::span<const OperandRow> inputs;
  std::span<const AttributeRow> attributes;
  std::span<const char* const> outputs;
  // Null if `compile` is set.
  Status (*plan)(Operands& of, Plan* plan);
  // Sets the types and sizes of the outputs; Operands::kUnknown where the run determines a size.
  Status (*infer)(Operands& of);
  // Checks everything of a call except its addresses; null for operators that are planned like aclnn operators.
  Status (*compile)(Operands& of, const RegistryCall& call, std::unique_ptr<const CompiledOperator>* out) = nullptr;
  bool takes_blocked_formats = false;  // the planner does not depend on the order of elements in memory
};

// One span per family.
std::span<const std::span<const OperatorRow>> registry();

// The row of a type; null if there is none.
const OperatorRow* find_operator(std::string_view type);

// Checks how the inputs are given, and their number.
Status check_inputs(const OperatorRow& row, const RegistryCall& call);
// The same of the outputs.
Status check_outputs(const OperatorRow& row, const RegistryCall& call);

// Sets the types, sizes and strides of the call's outputs, which it makes.
Status infer_outputs(RegistryCall* call);

std::span<const OperatorRow> elementwise_rows();
std::span<const OperatorRow> gradient_rows();
std::span<const OperatorRow> reduction_rows();
std::span<const OperatorRow> shape_rows();
std::span<const OperatorRow> index_rows();
std::span<const OperatorRow> format_rows();
std::span<const OperatorRow> matmul_rows();
std::span<const OperatorRow> image_rows();
std::span<const OperatorRow> norm_rows();
std::span<const OperatorRow> loss_rows();
std::span<const OperatorRow> random_rows();
std::span<const OperatorRow> recurrent_rows();
std::span<const OperatorRow> attention_rows();

}  // namespace softnpu
