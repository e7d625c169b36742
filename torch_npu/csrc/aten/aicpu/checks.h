#pragma once
// What CPU kernels do not ask about their arguments, and read past them, or divide by 0, for.

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace torch_npu::aicpu {

using OptionalTensor = std::optional<at::Tensor>;

// As many pivots as the matrices have rows or columns.
void check_lu_unpack(const at::Tensor& lu, const at::Tensor& pivots);
// A number for each channel in all that is given; statistics where the call does not make them.
void check_batch_norm(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                      const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training);
void check_batch_norm_backward(const at::Tensor& grad, const at::Tensor& input, const OptionalTensor& weight,
                               const OptionalTensor& running_mean, const OptionalTensor& running_var,
                               const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool training);
// No beta that is 0 as an integer.
void check_smooth_l1_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                                   int64_t reduction, double beta);

// The same for an operator ("aten::lu_unpack") whose arguments stand on the stack from `first` on.
void check_stack(std::string_view name, std::string_view overload, const torch::jit::Stack& stack, std::size_t first);

// Calls `check` with as many of the arguments as it takes.
template <typename... Checked, typename... Args>
void check_first(void (*check)(Checked...), const Args&... args) {
  const auto all = std::tie(args...);
  [&]<std::size_t... kAt>(std::index_sequence<kAt...>) { check(std::get<kAt>(all)...); }
  (std::index_sequence_for<Checked...>());
}

// The same for the operator `name` ("lu_unpack.out").
template <typename Name, typename... Args>
void check_arguments(Name, const Args&... args) {
  constexpr std::string_view kFull = Name::kText;
  constexpr std::string_view kBase = kFull.substr(0, kFull.find('.'));
  if constexpr (kBase == "lu_unpack") {
    check_first(check_lu_unpack, args...);
  } else if constexpr (kBase == "native_batch_norm") {
    check_first(check_batch_norm, args...);
  } else if constexpr (kFull.starts_with("_native_batch_norm_legit.no_stats")) {
    check_first(
        +[](const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, bool training) {
          check_batch_norm(input, weight, bias, {}, {}, training);
        },
        args...);
  } else if constexpr (kBase == "_native_batch_norm_legit") {
    check_first(check_batch_norm, args...);
  } else if constexpr (kBase == "native_batch_norm_backward" || kBase == "batch_norm_backward") {
    check_first(check_batch_norm_backward, args...);
  } else if constexpr (kBase == "smooth_l1_loss_backward") {
    check_first(check_smooth_l1_loss_backward, args...);
  }
}

}  // namespace torch_npu::aicpu
