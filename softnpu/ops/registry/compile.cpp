// The function that libacl_op_compiler looks up: finds an operator by its type name.

#include "ops/registry/registry.h"

namespace softnpu {
namespace {

class PlannedOperator final : public CompiledOperator {
 public:
  explicit PlannedOperator(const OperatorRow& row) : row_(row) {}

  const char* name() const override { return row_.name; }
  Status plan(RegistryCall* call, Plan* plan) const override {
    Operands operands(row_, *call);
    Status planned = row_.plan(operands, plan);
    Status read = operands.status();
    return read.is_ok() ? std::move(planned) : std::move(read);
  }

 private:
  const OperatorRow& row_;
};

Status compile(const RegistryCall& call, std::unique_ptr<const CompiledOperator>* out) {
  const OperatorRow* row = find_operator(call.type);
  if (row == nullptr) return {ACL_ERROR_OP_NOT_FOUND, "no operator is of this type: call the aclnn operator"};
  if (row->compile != nullptr) {
    RegistryCall own = call;
    Operands operands(*row, own);
    Status compiled = row->compile(operands, call, out);
    Status read = operands.status();
    return read.is_ok() ? std::move(compiled) : std::move(read);
  }
  SOFTNPU_RETURN_IF_ERROR(check_inputs(*row, call));
  SOFTNPU_RETURN_IF_ERROR(check_outputs(*row, call));
  *out = std::make_unique<PlannedOperator>(*row);
  return Status::ok();
}

}  // namespace
}  // namespace softnpu

void softnpuCompileOperator(const softnpu::RegistryCall* call,
                            std::shared_ptr<const softnpu::CompiledOperator>* compiled, softnpu::Status* status) {
  std::unique_ptr<const softnpu::CompiledOperator> result;
  *status = softnpu::compile(*call, &result);
  *compiled = std::move(result);
}

void softnpuInferOutputs(softnpu::RegistryCall* call, softnpu::Status* status) {
  *status = softnpu::infer_outputs(call);
}
