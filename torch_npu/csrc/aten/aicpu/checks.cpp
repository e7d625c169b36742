#include "aten/aicpu/checks.h"

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <type_traits>

namespace torch_npu::aicpu {
namespace {

bool is_given(const OptionalTensor& t) { return t.has_value() && t->defined(); }

// Checks that it has one element per channel, if it is given.
void check_channels(const char* op, const at::Tensor& input, const char* name, const OptionalTensor& t) {
  TORCH_CHECK(!is_given(t) || t->numel() == input.size(1), op, ": ", name, " has ", is_given(t) ? t->numel() : 0,
              " elements where the input has ", input.size(1), " channels (shape ", input.sizes(), ")");
}

void check_input(const char* op, const at::Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, op, ": the input has the shape ", input.sizes(),
              "; its second dimension is the channels");
}

void need(const char* op, const char* name, const OptionalTensor& t, const char* when) {
  TORCH_CHECK(is_given(t), op, ": ", name, " is missing, which ", when, " needs");
}

}  // namespace

void check_lu_unpack(const at::Tensor& lu, const at::Tensor& pivots) {
  if (lu.dim() < 2) return;  // the kernel rejects it
  const int64_t needed = std::min(lu.size(-2), lu.size(-1));
  TORCH_CHECK(pivots.dim() >= 1 && pivots.size(-1) >= needed, "lu_unpack: LU_pivots has the shape ", pivots.sizes(),
              " where matrices of ", lu.size(-2), " x ", lu.size(-1), " have ", needed,
              " pivots each; pass what torch.linalg.lu_factor returned");
}

void check_batch_norm(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                      const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training) {
  constexpr const char* kOp = "native_batch_norm";
  check_input(kOp, input);
  if (!training) {
    need(kOp, "running_mean", running_mean, "training=False");
    need(kOp, "running_var", running_var, "training=False");
  }
  check_channels(kOp, input, "weight", weight);
  check_channels(kOp, input, "bias", bias);
  check_channels(kOp, input, "running_mean", running_mean);
  check_channels(kOp, input, "running_var", running_var);
}

void check_batch_norm_of_batch(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               bool training) {
  check_batch_norm(input, weight, bias, {}, {}, training);
}

void check_batch_norm_with_update(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                  const at::Tensor& running_mean, const at::Tensor& running_var) {
  check_batch_norm(input, weight, bias, running_mean, running_var, true);
}

void check_batch_norm_statistics(const at::Tensor& input, const OptionalTensor& running_mean,
                                 const OptionalTensor& running_var) {
  check_batch_norm(input, {}, {}, running_mean, running_var, true);
}

void check_batch_norm_backward(const at::Tensor& grad, const at::Tensor& input, const OptionalTensor& weight,
                               const OptionalTensor& running_mean, const OptionalTensor& running_var,
                               const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool training) {
  constexpr const char* kOp = "native_batch_norm_backward";
  check_input(kOp, input);
  TORCH_CHECK(grad.sizes() == input.sizes(), kOp, ": grad_out has the shape ", grad.sizes(), ", the input ",
              input.sizes());
  check_channels(kOp, input, "weight", weight);
  if (training) {
    need(kOp, "save_mean", save_mean, "train=True");
    need(kOp, "save_invstd", save_invstd, "train=True");
    check_channels(kOp, input, "save_mean", save_mean);
    check_channels(kOp, input, "save_invstd", save_invstd);
  } else {
    need(kOp, "running_mean", running_mean, "train=False");
    need(kOp, "running_var", running_var, "train=False");
    check_channels(kOp, input, "running_mean", running_mean);
    check_channels(kOp, input, "running_var", running_var);
  }
}

void check_smooth_l1_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target, int64_t,
                                   double beta) {
  const bool is_integral = c10::isIntegralType(self.scalar_type(), true) &&
                           c10::isIntegralType(target.scalar_type(), true) &&
                           c10::isIntegralType(grad.scalar_type(), true);
  TORCH_CHECK(!is_integral || static_cast<int64_t>(beta) != 0, "smooth_l1_loss_backward: beta is ", beta,
              ", which is 0 as one of the ", self.scalar_type(), " values that it divides; pass floating point");
}

void check_stack(std::string_view name, std::string_view overload, const torch::jit::Stack& stack, std::size_t first) {
  constexpr std::string_view kLibrary = "aten::";
  if (!name.starts_with(kLibrary)) return;
  name.remove_prefix(kLibrary.size());
  const auto run = [&]<typename... Args>(const Check<Args...>& check) {
    if (!check.is_for(name, overload)) return false;
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) { check.run(stack[first + kAt].to<std::decay_t<Args>>()...); }
    (std::index_sequence_for<Args...>());
    return true;
  };
  std::apply([&](const auto&... checks) { (void)(run(checks) || ...); }, kChecks);
}

}  // namespace torch_npu::aicpu
