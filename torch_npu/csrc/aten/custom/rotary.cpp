// Rotary position embedding. Cosines and sines are converted to the type of the rows.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_rotary_position_embedding.h>
#include <aclnnop/aclnn_rotary_position_embedding_grad.h>
#include <aclnnop/aclnn_rotary_position_embedding_v2.h>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

constexpr aclnn_check::Dtypes kFloating = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});

int64_t mode_of(std::string_view rotary_mode) {
  TORCH_CHECK(rotary_mode == "half" || rotary_mode == "interleave", "rotary_mode is \"", rotary_mode,
              "\": it takes \"half\" or \"interleave\"");
  return rotary_mode == "half" ? 0 : 1;
}

void take_tables(Inputs* inputs, const at::Tensor& r1, const at::Tensor& r2) {
  inputs->take("r1", r1, kFloating);
  inputs->take("r2", r2, kFloating);
}

}  // namespace

at::Tensor npu_rotary_mul(const at::Tensor& self, const at::Tensor& r1, const at::Tensor& r2,
                          c10::string_view rotary_mode, const std::optional<at::Tensor>& rotate) {
  static const AclnnOp<decltype(aclnnRotaryPositionEmbeddingGetWorkspaceSize)> function("aclnnRotaryPositionEmbedding");
  static const AclnnOp<decltype(aclnnRotaryPositionEmbeddingV2GetWorkspaceSize)> with_matrix(
      "aclnnRotaryPositionEmbeddingV2");
  const bool has_matrix = rotate.has_value() && rotate->defined();
  Inputs inputs("npu_rotary_mul", has_matrix ? "aclnnRotaryPositionEmbeddingV2" : "aclnnRotaryPositionEmbedding",
                has_matrix ? with_matrix.available() : function.available());
  inputs.take("input", self, kFloating);
  take_tables(&inputs, r1, r2);
  inputs.take("rotate", rotate, kFloating);
  const int64_t mode = mode_of(rotary_mode);
  bind_device(inputs.device());
  at::Tensor out = shapes::like(self).make();
  if (out.numel() == 0) return out;
  const at::Tensor cosines = r1.to(self.scalar_type());
  const at::Tensor sines = r2.to(self.scalar_type());
  if (has_matrix) {
    with_matrix(inputs.device(), self, cosines, sines, mode, *rotate, out);
  } else {
    function(inputs.device(), self, cosines, sines, mode, out);
  }
  return out;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> npu_rotary_mul_backward(const at::Tensor& grad, const at::Tensor& self,
                                                                       const at::Tensor& r1, const at::Tensor& r2,
                                                                       c10::string_view rotary_mode) {
  static const AclnnOp<decltype(aclnnRotaryPositionEmbeddingGradGetWorkspaceSize)> function(
      "aclnnRotaryPositionEmbeddingGrad");
  Inputs inputs("npu_rotary_mul_backward", "aclnnRotaryPositionEmbeddingGrad", function.available());
  inputs.take("grad", grad, kFloating);
  inputs.take("input", self, kFloating);
  take_tables(&inputs, r1, r2);
  const int64_t mode = mode_of(rotary_mode);
  bind_device(inputs.device());
  at::Tensor dx = shapes::like(self).make();
  at::Tensor dr1 = shapes::sized(r1, self).make();
  at::Tensor dr2 = shapes::sized(r2, self).make();
  if (dx.numel() == 0) return {dx, dr1.zero_(), dr2.zero_()};
  const auto type = self.scalar_type();
  function(inputs.device(), grad.to(type), r1.to(type), r2.to(type), self, mode, dx, dr1, dr2);
  return {dx, dr1, dr2};
}

}  // namespace torch_npu::custom
