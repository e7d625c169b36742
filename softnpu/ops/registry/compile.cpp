// The function that libacl_op_compiler looks up: finds an operator by its type name.

#include <algorithm>

#include "ops/registry/operators.h"

namespace softnpu {
namespace {

class PlannedOperator final : public CompiledOperator {
 public:
  explicit PlannedOperator(const PlannedType& type) : type_(type) {}

  const char* name() const override { return type_.name; }
  Status plan(TypedCall* call, Plan* plan) const override {
    Operands operands(*call);
    Status planned = type_.plan(operands, plan);
    Status read = operands.status();
    return read.is_ok() ? std::move(planned) : std::move(read);
  }

 private:
  const PlannedType& type_;
};

Status compile_planned(const PlannedType& type, const TypedCall& call, std::unique_ptr<const CompiledOperator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_operands(type.inputs, type.outputs, type.takes_blocked_formats, call));
  *out = std::make_unique<PlannedOperator>(type);
  return Status::ok();
}

const PlannedType* find_planned(const std::string& name) {
  for (const auto& family : planned_types()) {
    if (const auto it = std::ranges::find(family, name, &PlannedType::name); it != family.end()) return &*it;
  }
  return nullptr;
}

Status compile(const TypedCall& call, std::unique_ptr<const CompiledOperator>* out) {
  const auto types = operator_types();
  if (const auto it = std::ranges::find(types, call.type, &OperatorType::name); it != types.end()) {
    return it->compile(call, out);
  }
  if (const PlannedType* type = find_planned(call.type); type != nullptr) return compile_planned(*type, call, out);
  return {ACL_ERROR_OP_NOT_FOUND, "no operator is of this type: call the aclnn operator"};
}

}  // namespace
}  // namespace softnpu

void softnpuCompileOperator(const softnpu::TypedCall* call, std::shared_ptr<const softnpu::CompiledOperator>* compiled,
                            softnpu::Status* status) {
  std::unique_ptr<const softnpu::CompiledOperator> made;
  *status = softnpu::compile(*call, &made);
  *compiled = std::move(made);
}
