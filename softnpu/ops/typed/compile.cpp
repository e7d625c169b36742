// What libacl_op_compiler looks up: the way from the name of a type to an operator.

#include <algorithm>

#include "ops/describe.h"
#include "ops/typed/operators.h"
#include "ops/typed/reading.h"

namespace softnpu {
namespace {

class PlannedOperator final : public CompiledOperator {
 public:
  explicit PlannedOperator(const PlannedType& type) : type_(type) {}

  const char* name() const override { return type_.name; }
  Status plan(TypedCall* call, Plan* plan) const override { return type_.plan(*call, plan); }

 private:
  const PlannedType& type_;
};

// aclnn's planners know sizes and strides: what formats with blocks hold is cast first.
Status check_plain(const TypedTensor& typed, const std::string& role) {
  SOFTNPU_RETURN_IF_ERROR(check_given(typed, role));
  switch (typed.tensor.format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_NC: return Status::ok();
    default: break;
  }
  return {ACL_ERROR_INVALID_PARAM,
          text(role, " is ", describe(typed.tensor), " in the format ", static_cast<int>(typed.tensor.format))};
}

Status compile_planned(const PlannedType& type, const TypedCall& call, std::unique_ptr<const CompiledOperator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_counts(call, type.inputs, type.outputs));
  for (size_t i = 0; i < type.inputs; ++i) SOFTNPU_RETURN_IF_ERROR(check_plain(call.inputs[i], text("input ", i)));
  for (size_t i = 0; i < type.outputs; ++i) SOFTNPU_RETURN_IF_ERROR(check_plain(call.outputs[i], text("output ", i)));
  *out = std::make_unique<PlannedOperator>(type);
  return Status::ok();
}

Status compile(const TypedCall& call, std::unique_ptr<const CompiledOperator>* out) {
  const auto types = operator_types();
  if (const auto it = std::ranges::find(types, call.type, &OperatorType::name); it != types.end()) {
    return it->compile(call, out);
  }
  const auto planned = planned_types();
  if (const auto it = std::ranges::find(planned, call.type, &PlannedType::name); it != planned.end()) {
    return compile_planned(*it, call, out);
  }
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
