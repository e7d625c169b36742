// The operators that torch.amp.GradScaler needs.

#include <ATen/core/Tensor.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale_cpu_dispatch.h>
#include <ATen/ops/_amp_update_scale_cpu_dispatch.h>
#include <aclnnop/aclnn_amp_update_scale.h>
#include <aclnnop/aclnn_foreach_non_finite_check_and_unscale.h>
#include <torch/library.h>

#include <algorithm>

#include "aten/aclnn/check.h"
#include "aten/aclnn/host.h"
#include "aten/version_counters.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu {
namespace {

constexpr aclnn_check::Dtypes kFloat = aclnn_check::dtypes({at::kFloat});
constexpr aclnn_check::Dtypes kGradients = aclnn_check::dtypes({at::kFloat, at::kHalf, at::kBFloat16});

void unscale(at::TensorList self, at::Tensor& found_inf, const at::Tensor& inv_scale) {
  static const AclnnOp<decltype(aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize)> op(
      "aclnnForeachNonFiniteCheckAndUnscale", AclObject::kTensorList);
  aclnn_check::Check check;
  const bool is_taken =
      op.available() && check.takes(self, kGradients) && check.takes(found_inf, kFloat) &&
      check.takes(inv_scale, kFloat) && found_inf.numel() == 1 && inv_scale.numel() == 1 &&
      std::all_of(self.begin(), self.end(), [&](const at::Tensor& gradient) {
        return gradient.is_non_overlapping_and_dense() && gradient.scalar_type() == self[0].scalar_type();
      });
  if (is_taken) bind_device(check.device());
  if (is_taken && op.try_launch(check.device(), self, found_inf, inv_scale)) return;
  aclnn_check::Host<"_amp_foreach_non_finite_check_and_unscale_",
                    &at::cpu::_amp_foreach_non_finite_check_and_unscale_>::call(self, found_inf, inv_scale);
}

at::Tensor& update_scale(at::Tensor& self, at::Tensor& growth_tracker, const at::Tensor& found_inf, double growth,
                         double backoff, int64_t interval) {
  static const AclnnOp<decltype(aclnnAmpUpdateScaleGetWorkspaceSize)> op("aclnnAmpUpdateScale");
  aclnn_check::Check check;
  const bool is_taken =
      op.available() && check.writes(self, kFloat) && check.writes(growth_tracker, aclnn_check::dtypes({at::kInt})) &&
      check.takes(found_inf, kFloat) && self.numel() == 1 && growth_tracker.numel() == 1 && found_inf.numel() == 1;
  if (is_taken) bind_device(check.device());
  if (is_taken &&
      op.try_launch(check.device(), self, growth_tracker, found_inf, growth, backoff, interval, self, growth_tracker))
    return self;
  return aclnn_check::Host<"_amp_update_scale_", &at::cpu::_amp_update_scale_>::call(self, growth_tracker, found_inf,
                                                                                     growth, backoff, interval);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_amp_foreach_non_finite_check_and_unscale_", &RaisesVersions<&unscale, 0>::call);
  m.impl("_amp_update_scale_", &update_scale);
}

}  // namespace
}  // namespace torch_npu
