// npu_quantize: scales divide, or multiply.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_ascend_quant_v3.h>
#include <aclnnop/aclnn_quantize.h>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {

at::Tensor npu_quantize(const at::Tensor& self, const at::Tensor& scales, const std::optional<at::Tensor>& zero_points,
                        int64_t dtype, int64_t axis, bool div_mode) {
  static const AclnnOp<decltype(aclnnQuantizeGetWorkspaceSize)> divide("aclnnQuantize");
  static const AclnnOp<decltype(aclnnAscendQuantV3GetWorkspaceSize)> multiply("aclnnAscendQuantV3");
  constexpr aclnn_check::Dtypes kValues = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
  Inputs inputs("npu_quantize", div_mode ? "aclnnQuantize" : "aclnnAscendQuantV3",
                div_mode ? divide.available() : multiply.available());
  inputs.take("input", self, kValues);
  inputs.take("scales", scales, kValues);
  inputs.take("zero_points", zero_points, kValues | dtypes({at::kChar, at::kByte, at::kInt}));
  bind_device(inputs.device());
  at::Tensor out = shapes::quantized(self, dtype, div_mode).make();
  if (out.numel() == 0) return out;
  const at::ScalarType type = out.scalar_type();
  if (div_mode) {
    divide(inputs.device(), self, scales, zero_points, type, axis, out);
  } else {
    constexpr int64_t kLast = -1;
    constexpr std::string_view kRound = "round";
    multiply(inputs.device(), self, scales, zero_points, false, kRound, type, axis < kLast ? axis : kLast, out);
  }
  return out;
}

}  // namespace torch_npu::custom
