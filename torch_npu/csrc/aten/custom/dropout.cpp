// Dropout with masks of bits that the caller keeps.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_dropout_do_mask.h>
#include <aclnnop/aclnn_dropout_gen_mask.h>

#include <array>

#include "aten/custom/inputs.h"
#include "aten/custom/shapes.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/generator.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

void check_drop(const char* name, double p) {
  TORCH_CHECK(p >= 0 && p <= 1, name, ": p is ", p, ": it is a probability, from 0 to 1");
}

Tensor kept(const char* name, const char* role, const Tensor& self, const Tensor& mask, double p) {
  static const AclnnOp<decltype(aclnnDropoutDoMaskGetWorkspaceSize)> function("aclnnDropoutDoMask");
  Inputs inputs(name, "aclnnDropoutDoMask", function.available());
  inputs.take(role, self, dtypes({at::kHalf, at::kBFloat16, at::kFloat}));
  inputs.take("mask", mask, dtypes({at::kByte}));
  check_drop(name, p);
  const auto wanted = shapes::own_mask_bits(self).sizes;
  TORCH_CHECK(mask.sym_sizes() == c10::SymIntArrayRef(wanted), name, ": mask of size ", mask.sizes(),
              " for a tensor of size ", self.sizes(), ": ", wanted[0], " bytes are taken");
  bind_device(inputs.device());
  const Tensor out = shapes::like(self).make();
  if (out.numel() > 0) function(inputs.device(), self.contiguous(), mask.contiguous(), p, out);
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> _npu_dropout(const Tensor& self, double p) {
  static const AclnnOp<decltype(aclnnDropoutGenMaskGetWorkspaceSize)> draw("aclnnDropoutGenMask", AclObject::kIntArray);
  Inputs inputs("_npu_dropout", "aclnnDropoutGenMask", draw.available());
  inputs.take("input", self, dtypes({at::kHalf, at::kBFloat16, at::kFloat}));
  check_drop("_npu_dropout", p);
  bind_device(inputs.device());
  const Tensor mask = shapes::own_mask_bits(self).make();
  if (mask.numel() > 0) {
    const Counter counter = next_counter(std::nullopt, inputs.device(), false);
    draw(inputs.device(), std::array<int64_t, 1>{self.numel()}, p, counter.seed, counter.offset, mask);
  }
  return {kept("_npu_dropout", "input", self, mask, p), mask};
}

Tensor npu_dropout_backward(const Tensor& grad_output, const Tensor& mask, double p) {
  return kept("npu_dropout_backward", "grad_output", grad_output, mask, p);
}

// The mask again, which its gradient needs.
std::tuple<Tensor, Tensor> npu_dropout_do_mask(const Tensor& self, const Tensor& mask, double p) {
  return {kept("npu_dropout_do_mask", "input", self, mask, p), mask.clone()};
}

}  // namespace torch_npu::custom
