// RMS norms whose results are int8.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_add_rms_norm_dynamic_quant_v2.h>
#include <aclnnop/aclnn_add_rms_norm_quant_v2.h>
#include <aclnnop/aclnn_rms_norm_quant.h>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kOffsets = kUpToFloat | dtypes({at::kInt, at::kChar});

// What is added and normed: of one type.
void take_summands(Inputs* inputs, const Tensor& x1, const Tensor& x2, const Tensor& gamma,
                   const OptionalTensor& beta) {
  inputs->take("x1", x1, kUpToFloat);
  const auto same = aclnn_check::dtype_bit(x1.scalar_type());
  inputs->take("x2", x2, same);
  inputs->take("gamma", gamma, same);
  inputs->take("beta", beta, same);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> npu_add_rms_norm_quant(const Tensor& x1, const Tensor& x2, const Tensor& gamma,
                                                          const Tensor& scales1, const OptionalTensor& zero_points1,
                                                          const OptionalTensor& beta, const OptionalTensor& scales2,
                                                          const OptionalTensor& zero_points2, int64_t axis,
                                                          double epsilon, bool div_mode,
                                                          std::optional<int64_t> dst_type) {
  static const AclnnOp<decltype(aclnnAddRmsNormQuantV2GetWorkspaceSize)> function("aclnnAddRmsNormQuantV2");
  Inputs inputs("npu_add_rms_norm_quant", "aclnnAddRmsNormQuantV2", function.available());
  take_summands(&inputs, x1, x2, gamma, beta);
  inputs.take("scales1", scales1, kUpToFloat);
  inputs.take("zero_points1", zero_points1, kOffsets);
  inputs.take("scales2", scales2, kUpToFloat);
  inputs.take("zero_points2", zero_points2, kOffsets);
  bind_device(inputs.device());
  Tensor y1 = shapes::normed_int8(x1, x2, gamma, axis, dst_type).make();
  Tensor y2 = shapes::like(y1).make(), sum = shapes::like(x1).make();
  if (y1.numel() > 0) {
    function(inputs.device(), x1, x2, gamma, scales1, scales2, zero_points1, zero_points2, beta, axis, epsilon,
             div_mode, y1, y2, sum, OptionalTensor());
  }
  return {y1, y2, sum};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> npu_add_rms_norm_dynamic_quant(
    const Tensor& x1, const Tensor& x2, const Tensor& gamma, const OptionalTensor& smooth_scale1,
    const OptionalTensor& smooth_scale2, const OptionalTensor& beta, double epsilon,
    std::optional<std::array<bool, 2>> output_mask, std::optional<int64_t> y_dtype) {
  static const AclnnOp<decltype(aclnnAddRmsNormDynamicQuantV2GetWorkspaceSize)> function(
      "aclnnAddRmsNormDynamicQuantV2");
  Inputs inputs("npu_add_rms_norm_dynamic_quant", "aclnnAddRmsNormDynamicQuantV2", function.available());
  take_summands(&inputs, x1, x2, gamma, beta);
  inputs.take("smooth_scale1", smooth_scale1, kUpToFloat);
  inputs.take("smooth_scale2", smooth_scale2, kUpToFloat);
  bind_device(inputs.device());
  const auto asked = shapes::asked_branches(smooth_scale1, smooth_scale2, output_mask);
  Tensor y1 = shapes::first_branch(x1, x2, gamma, smooth_scale1, smooth_scale2, output_mask, y_dtype).make();
  Tensor y2 = shapes::second_branch(x1, smooth_scale1, smooth_scale2, output_mask).make();
  Tensor scale1 = shapes::first_scales(x1, smooth_scale1, smooth_scale2, output_mask).make();
  Tensor scale2 = shapes::second_scales(x1, smooth_scale1, smooth_scale2, output_mask).make();
  Tensor sum = shapes::like(x1).make();
  if (x1.numel() > 0) {
    function(inputs.device(), x1, x2, gamma, smooth_scale1, smooth_scale2, beta, epsilon, asked, y1, y2, sum, scale1,
             scale2);
    return {y1, y2, sum, scale1, scale2};
  }
  // Rows without elements have the scale 1; what is not computed is zero.
  for (const auto& [values, scales, is_asked] : {std::tuple(y1, scale1, asked[0]), {y2, scale2, asked[1]}}) {
    values.zero_();
    scales.fill_(is_asked ? 1 : 0);
  }
  return {y1, y2, sum, scale1, scale2};
}

Tensor npu_rms_norm_quant(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& scale,
                          const Tensor& offset, double epsilon, std::optional<int64_t> dst_dtype) {
  static const AclnnOp<decltype(aclnnRmsNormQuantGetWorkspaceSize)> function("aclnnRmsNormQuant");
  Inputs inputs("npu_rms_norm_quant", "aclnnRmsNormQuant", function.available());
  inputs.take("x", x, kUpToFloat);
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  inputs.take("gamma", gamma, same);
  inputs.take("beta", beta, same);
  inputs.take("scale", scale, kUpToFloat);
  inputs.take("offset", offset, kOffsets);
  bind_device(inputs.device());
  Tensor y = shapes::normed_int8(x, gamma, dst_dtype).make();
  if (y.numel() > 0) function(inputs.device(), x, gamma, beta, scale, offset, epsilon, y);
  return y;
}

}  // namespace torch_npu::custom
