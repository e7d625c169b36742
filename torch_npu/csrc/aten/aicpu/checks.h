#pragma once
// Argument checks that CPU kernels omit although they then read out of bounds or divide by 0.

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace torch_npu::aicpu {

using OptionalTensor = std::optional<at::Tensor>;

// Checks that there are as many pivots as the smaller of the matrices' sizes.
void check_lu_unpack(const at::Tensor& lu, const at::Tensor& pivots);
// Checks that all given arguments have one number per channel; statistics are required if the call does not compute
// them.
void check_batch_norm(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                      const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training);
// For _native_batch_norm_legit.no_stats.
void check_batch_norm_of_batch(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               bool training);
// For _batch_norm_with_update, which computes the statistics.
void check_batch_norm_with_update(const at::Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                  const at::Tensor& running_mean, const at::Tensor& running_var);
void check_batch_norm_statistics(const at::Tensor& input, const OptionalTensor& running_mean,
                                 const OptionalTensor& running_var);
void check_batch_norm_backward(const at::Tensor& grad, const at::Tensor& input, const OptionalTensor& weight,
                               const OptionalTensor& running_mean, const OptionalTensor& running_var,
                               const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool training);
// Rejects a beta that is 0 as an integer: kernels divide by the vector that is filled with it.
void check_smooth_l1_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                                   int64_t reduction, double beta);

// A check of an operator's first arguments.
template <typename... Args>
struct Check {
  std::string_view op;  // "lu_unpack": all its overloads; "lu_unpack.out": overloads whose names start with "out"
  void (*run)(Args...);

  constexpr bool is_for(std::string_view base, std::string_view overload) const {
    const std::size_t dot = std::min(op.find('.'), op.size());
    return base == op.substr(0, dot) && (dot == op.size() || overload.starts_with(op.substr(dot + 1)));
  }
};

// The first matching check is used.
inline constexpr std::tuple kChecks{
    Check{"lu_unpack", check_lu_unpack},
    Check{"native_batch_norm", check_batch_norm},
    Check{"_native_batch_norm_legit.no_stats", check_batch_norm_of_batch},
    Check{"_native_batch_norm_legit", check_batch_norm},
    Check{"_batch_norm_with_update", check_batch_norm_with_update},
    Check{"batch_norm_update_stats", check_batch_norm_statistics},
    Check{"native_batch_norm_backward", check_batch_norm_backward},
    Check{"batch_norm_backward", check_batch_norm_backward},
    Check{"smooth_l1_loss_backward", check_smooth_l1_loss_backward},
};

// Checks a call of an operator ("aten::lu_unpack") whose arguments start at `first` on the stack.
void check_stack(std::string_view name, std::string_view overload, const torch::jit::Stack& stack, std::size_t first);

// The index of the check for the operator `name` ("lu_unpack.out"); the number of checks if there is none.
constexpr std::size_t check_at(std::string_view name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view base = name.substr(0, dot);
  const std::string_view overload = dot == name.size() ? std::string_view() : name.substr(dot + 1);
  std::size_t at = 0;
  std::apply([&](const auto&... checks) { (void)((checks.is_for(base, overload) || (++at, false)) || ...); }, kChecks);
  return at;
}

// Checks a call of the operator whose name is Name::kText.
template <typename Name, typename... Args>
void check_arguments(Name, const Args&... args) {
  constexpr std::size_t kAt = check_at(Name::kText);
  if constexpr (kAt < std::tuple_size_v<decltype(kChecks)>) {
    const auto all = std::tie(args...);
    [&]<typename... Checked>(void (*run)(Checked...)) {
      [&]<std::size_t... kArgs>(std::index_sequence<kArgs...>) { run(std::get<kArgs>(all)...); }
      (std::index_sequence_for<Checked...>());
    }(std::get<kAt>(kChecks).run);
  }
}

}  // namespace torch_npu::aicpu
