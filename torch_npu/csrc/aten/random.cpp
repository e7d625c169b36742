// Random masks and dropout by aclnn. Unsupported calls take the AI CPU route or are composed of other operators.
// aten/distributions.cpp has the other distributions.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli_ops.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <aclnnop/aclnn_inplace_bernoulli.h>
#include <aclnnop/aclnn_masked_scale.h>
#include <aclnnop/softnpu_inplace_bernoulli_seed_tensor.h>
#include <torch/library.h>

#include "aten/aicpu/fallback.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/format.h"
#include "core/random_op.h"

namespace torch_npu {
namespace {

using at::Tensor;

bool is_mask(at::ScalarType dtype) { return dtype == at::kFloat || dtype == at::kBool || dtype == at::kByte; }

bool is_dense(const Tensor& tensor) {
  return tensor.numel() > 0 && tensor.is_non_overlapping_and_dense() && !tensor.is_neg();
}

Tensor& bernoulli_(Tensor& self, double p, std::optional<at::Generator> generator) {
  static const RandomOp<decltype(aclnnInplaceBernoulliGetWorkspaceSize),
                        decltype(softnpuInplaceBernoulliSeedTensorGetWorkspaceSize)>
      op("aclnnInplaceBernoulli", "softnpuInplaceBernoulliSeedTensor");
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (!op.available() || !is_mask(self.scalar_type()) || !is_dense(self))
    return aicpu::Fallback<at::_ops::bernoulli__float>::call(self, p, generator);
  at::assert_no_internal_overlap(self);
  materialize(self);
  const c10::DeviceIndex device = self.device().index();
  bind_device(device);
  op.draw(generator, device,
          [&](const auto& variant, const auto&... counter) { variant(device, self, at::Scalar(p), counter...); });
  return self;
}

Tensor masked_scale(const Tensor& self, const Tensor& mask, double scale) {
  static const AclnnOp<decltype(aclnnMaskedScaleGetWorkspaceSize)> op("aclnnMaskedScale");
  const bool same_layout = self.sizes() == mask.sizes() && self.strides() == mask.strides();
  if (!op.available() || self.scalar_type() != at::kFloat || !is_mask(mask.scalar_type()) || !same_layout ||
      !is_dense(self) || mask.is_neg() || self.device() != mask.device()) {
    return at::mul(at::mul(self, mask), scale);  // for integers the result is floating-point
  }
  const c10::DeviceIndex device = self.device().index();
  bind_device(device);
  Tensor out = at::empty_strided(self.sizes(), self.strides(), self.options());
  op(device, self, mask, scale, out);
  return out;
}

// As defined by ATen's CPU kernel, with the mask drawn above.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (!train.value_or(true) || input.numel() == 0)
    return {input, at::ones_like(input, input.options().dtype(at::kBool))};
  const double kept = 1 - p;
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  bernoulli_(mask, kept, std::nullopt);
  return {masked_scale(input, mask, kept == 0 ? 0 : 1 / kept), mask};
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return masked_scale(grad_output, mask, scale);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("bernoulli_.float", &bernoulli_);
  m.impl("native_dropout", &native_dropout);
  m.impl("native_dropout_backward", &native_dropout_backward);
  m.impl("_masked_scale", &masked_scale);
}

}  // namespace
}  // namespace torch_npu
