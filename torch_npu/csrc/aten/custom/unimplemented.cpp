#include "aten/custom/unimplemented.h"

#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <memory>
#include <string>
#include <string_view>

namespace torch_npu::custom {
namespace {

class Refusal final : public c10::OperatorKernel {
 public:
  explicit Refusal(const char* instead) : instead_(instead) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack*) const {
    TORCH_CHECK_NOT_IMPLEMENTED(
        instead_[0] == '\0', op.operator_name(),
        " is not implemented by this version of torch_npu. The same is computed by: ", instead_);
    TORCH_CHECK_NOT_IMPLEMENTED(false, op.operator_name(), " is not implemented by this version of torch_npu");
  }

 private:
  const char* instead_;
};

}  // namespace

void define_unimplemented(torch::Library& library, std::span<const Unimplemented> operators) {
  for (const Unimplemented& row : operators) {
    const std::string_view schema = row.schema;
    library.def(row.schema);
    // Below autograd, for all devices and for calls without a tensor; other libraries may register kernels of their
    // own.
    library.impl(std::string(schema.substr(0, schema.find('('))).c_str(),
                 torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                                 torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Refusal>(row.instead))));
  }
}

}  // namespace torch_npu::custom
