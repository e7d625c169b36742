#include "aten/aicpu/overflow.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/nan_to_num.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/overflow.h"

namespace torch_npu::aicpu {
namespace {

// Operators that store numbers which the program wrote, or move elements: no results of computations.
constexpr std::array<std::string_view, 52> kMoves = {"_copy_from",
                                                     "_local_scalar_dense",
                                                     "_to_copy",
                                                     "_unsafe_view",
                                                     "arange",
                                                     "as_strided_",
                                                     "cat",
                                                     "clone",
                                                     "constant_pad_nd",
                                                     "copy_",
                                                     "detach",
                                                     "empty",
                                                     "empty_like",
                                                     "empty_strided",
                                                     "fill",
                                                     "fill_",
                                                     "full",
                                                     "full_like",
                                                     "gather",
                                                     "index",
                                                     "index_copy",
                                                     "index_copy_",
                                                     "index_fill",
                                                     "index_fill_",
                                                     "index_put",
                                                     "index_put_",
                                                     "index_select",
                                                     "masked_fill",
                                                     "masked_fill_",
                                                     "masked_scatter",
                                                     "masked_scatter_",
                                                     "masked_select",
                                                     "nan_to_num",
                                                     "nan_to_num_",
                                                     "new_empty",
                                                     "new_full",
                                                     "new_ones",
                                                     "new_zeros",
                                                     "normal_",
                                                     "ones",
                                                     "resize_",
                                                     "roll",
                                                     "scalar_tensor",
                                                     "scatter",
                                                     "scatter_",
                                                     "set_",
                                                     "split",
                                                     "stack",
                                                     "uniform_",
                                                     "where",
                                                     "zero_",
                                                     "zeros"};
static_assert(std::ranges::is_sorted(kMoves));

bool is_move(std::string_view name) {
  return std::ranges::binary_search(kMoves, name.substr(0, std::min(name.find('.'), name.size())));
}

}  // namespace

void check_overflow(const char* name, c10::DeviceIndex device, const at::Tensor& view) {
  if (overflow_check() == OverflowCheck::kNone || !view.defined() || !view.is_cpu()) return;
  if (view.layout() != at::kStrided || !at::isFloatingType(view.scalar_type()) || is_move(name)) return;
  // On the CPU, without gradients and modes.
  const c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset);
  if (at::isfinite(view).all().item<bool>()) return;
  raise_overflow_flag(device);
  at::Tensor written = view;
  if (overflow_check() == OverflowCheck::kSaturate) at::nan_to_num_(written);
}

}  // namespace torch_npu::aicpu
