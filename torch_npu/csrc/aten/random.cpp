// Random masks by aclnn's counter-based generator; what it does not take goes the AI CPU route.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli_ops.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <aclnnop/aclnn_bernoulli.h>
#include <torch/library.h>

#include "aten/aicpu/fallback.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/generator.h"

namespace torch_npu {
namespace {

using at::Tensor;

bool aclnn_takes(const Tensor& self) {
  const auto dtype = self.scalar_type();
  return (dtype == at::kFloat || dtype == at::kBool || dtype == at::kByte) && self.is_contiguous() && !self.is_neg() &&
         self.numel() > 0;
}

Tensor& bernoulli_(Tensor& self, double p, std::optional<at::Generator> generator) {
  static const AclnnOp<decltype(&aclnnInplaceBernoulliGetWorkspaceSize)> op("aclnnInplaceBernoulli",
                                                                            "aclnnInplaceBernoulliGetWorkspaceSize");
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (!op.available() || !aclnn_takes(self))
    return aicpu::Fallback<at::_ops::bernoulli__float>::call(self, p, generator);
  at::assert_no_internal_overlap(self);
  const c10::DeviceIndex device = self.device().index();
  bind_device(device);
  at::Generator from = generator_of(generator, device);
  std::pair<uint64_t, uint64_t> counter;
  {
    std::lock_guard lock(from.mutex());
    counter = static_cast<GeneratorImpl*>(from.unsafeGetGeneratorImpl())->next_counter();
  }
  op(device, AclTensor(self).get(), AclScalar(p).get(), static_cast<int64_t>(counter.first),
     static_cast<int64_t>(counter.second));
  return self;
}

// As ATen's CPU kernel defines it, with the mask drawn above.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  if (!train.value_or(true) || input.numel() == 0)
    return {input, at::ones_like(input, input.options().dtype(at::kBool))};
  const double kept = 1 - p;
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  bernoulli_(mask, kept, std::nullopt);
  return {at::mul(input, mask).mul_(kept == 0 ? 0 : 1 / kept), mask};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("bernoulli_.float", &bernoulli_);
  m.impl("native_dropout", &native_dropout);
}

}  // namespace
}  // namespace torch_npu
