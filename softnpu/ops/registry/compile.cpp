// The function that libacl_op_compiler looks up: finds an operator by its type name.

#include <algorithm>
#include <atomic>
#include <utility>

#include "nnopbase/written.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

class PlannedOperator final : public CompiledOperator {
 public:
  PlannedOperator(const OperatorRow& row, const RegistryCall& call) : row_(row), call_(call) {}
  ~PlannedOperator() override { (void)take_idle(); }

  const char* name() const override { return row_.name; }
  Status rebind(std::span<void* const> operands, Plan* plan) const override {
    std::unique_ptr<RegistryCall> call = take_idle();
    if (call == nullptr) call = std::make_unique<RegistryCall>(call_);
    auto operand = operands.begin();
    for (RegistryTensor& input : call->inputs) input.tensor.data = *operand++;
    for (RegistryTensor& output : call->outputs) output.tensor.data = *operand++;
    Operands of(row_, *call);
    Status planned = row_.plan(of, plan);
    Status read = of.status();
    for (const RegistryTensor& output : call->outputs) add_written(&output.tensor, plan);
    plan->unchanged.clear();  // they are tensors of `call`
    move_sizes(call.get(), plan);
    (void)std::unique_ptr<RegistryCall>(idle_.exchange(call.release(), std::memory_order_acq_rel));
    return read.is_ok() ? std::move(planned) : std::move(read);
  }

 private:
  static void move_sizes(RegistryCall* call, Plan* plan) {
    const auto has_sizes = [](const RegistryTensor& output) { return output.tensor.shape != nullptr; };
    if (std::ranges::none_of(call->outputs, has_sizes)) return;
    for (RegistryTensor& output : call->outputs) plan->sizes.push_back(std::exchange(output.tensor.shape, nullptr));
  }

  std::unique_ptr<RegistryCall> take_idle() const {
    return std::unique_ptr<RegistryCall>(idle_.exchange(nullptr, std::memory_order_acq_rel));
  }

  const OperatorRow& row_;
  const RegistryCall call_;  // with addresses of the call that was compiled, which are not used
  // A copy that no thread plans with, or null: most calls need no other.
  mutable std::atomic<RegistryCall*> idle_{nullptr};
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
  *out = std::make_unique<PlannedOperator>(*row, call);
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
