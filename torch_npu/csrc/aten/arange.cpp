// arange by aclnn. PyTorch's meta kernel checks the range and counts its elements.

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/arange_cpu_dispatch.h>
#include <aclnnop/aclnn_arange.h>
#include <torch/library.h>

#include "aten/aclnn/check.h"
#include "aten/aclnn/host.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu {
namespace {

at::Tensor& arange_out(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step, at::Tensor& out) {
  static const AclnnOp<decltype(aclnnArangeGetWorkspaceSize)> op("aclnnArange");
  aclnn_check::Check check;
  // For a non-contiguous output PyTorch warns and resizes: rare, so ATen's kernel handles it.
  if (!op.available() || !check.takes_output(out) || !out.is_contiguous() || out.scalar_type() == at::kBool ||
      out.is_complex())
    return aclnn_check::Host<"arange.start_out", &at::cpu::arange_outf>::call(start, end, step, out);
  const at::Tensor range = at::arange(start, end, step, out.options().device(at::kMeta));
  if (out.numel() != range.numel()) {
    if (out.numel() > 0)
      return aclnn_check::Host<"arange.start_out", &at::cpu::arange_outf>::call(start, end, step, out);
    out.resize_({range.numel()});
  }
  bind_device(check.device());
  if (out.numel() > 0) op(check.device(), start, end, step, out);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("arange.start_out", &arange_out); }

}  // namespace
}  // namespace torch_npu
