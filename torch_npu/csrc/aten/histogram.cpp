// torch.histc of integers, which PyTorch's CUDA kernel supports and its CPU kernel does not.

#include <ATen/core/Tensor.h>
#include <ATen/ops/histc_cpu_dispatch.h>
#include <torch/library.h>

#include "aten/aclnn/host.h"

namespace torch_npu {
namespace {

using OnHost = aclnn_check::Host<"histc", static_cast<at::Tensor (*)(const at::Tensor&, int64_t, const at::Scalar&,
                                                                     const at::Scalar&)>(&at::cpu::histc)>;

// Computed in double, which is exact for magnitudes up to 2^53 / number of bins. Bounds are truncated to integers, and
// the counts have the type of `self`, as on CUDA.
at::Tensor histc(const at::Tensor& self, int64_t bins, const at::Scalar& min, const at::Scalar& max) {
  if (!at::isIntegralType(self.scalar_type(), /*includeBool=*/false)) return OnHost::call(self, bins, min, max);
  return OnHost::call(self.to(at::kDouble), bins, min.to<int64_t>(), max.to<int64_t>()).to(self.scalar_type());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("histc", &histc); }

}  // namespace
}  // namespace torch_npu
