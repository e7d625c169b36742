// Distributions composed of those of aten/distributions.cpp, so that they run on the device and in captured graphs.
// Arguments out of range, and types without a fraction, fall back to ATen's kernels, which raise ATen's errors.

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/all.h>
#include <ATen/ops/cauchy_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/geometric_cpu_dispatch.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_normal_cpu_dispatch.h>
#include <ATen/ops/normal_cpu_dispatch.h>
#include <ATen/ops/rrelu_with_noise_cpu_dispatch.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <cmath>
#include <numbers>

#include "aten/aclnn/host.h"
#include "core/capture.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

using at::Tensor;
using GivenGenerator = std::optional<at::Generator>;
using aclnn_check::Host;

// Whether numbers may be drawn into it, or into a copy, and mapped there.
bool is_drawn(const Tensor& self) {
  return self.is_floating_point() && self.numel() > 0 && self.layout() == at::kStrided && !self.is_neg() &&
         at::has_internal_overlap(self) == at::MemOverlap::No;
}

// Fills `self` by draw(t), where t has a type in which the result is computed.
template <typename Draw>
Tensor& draw_into(Tensor& self, const Draw& draw) {
  if (self.scalar_type() == at::kFloat || self.scalar_type() == at::kDouble) {
    draw(self);
    return self;
  }
  Tensor widened = at::empty_like(self, self.options().dtype(at::kFloat));
  draw(widened);
  return self.copy_(widened);
}

// The exponential of a normal number.
Tensor& log_normal_(Tensor& self, double mean, double std, GivenGenerator generator) {
  if (!(std > 0) || !std::isfinite(mean) || !std::isfinite(std) || !is_drawn(self))
    return Host<"log_normal_", &at::cpu::log_normal_>::call(self, mean, std, generator);
  return draw_into(self, [&](Tensor& numbers) { numbers.normal_(mean, std, generator).exp_(); });
}

// By the inverse of the distribution function: median + sigma tan(pi (u - 1/2)).
Tensor& cauchy_(Tensor& self, double median, double sigma, GivenGenerator generator) {
  if (!(sigma > 0) || !std::isfinite(median) || !std::isfinite(sigma) || !is_drawn(self))
    return Host<"cauchy_", &at::cpu::cauchy_>::call(self, median, sigma, generator);
  return draw_into(self, [&](Tensor& numbers) {
    numbers.uniform_(-0.5, 0.5, generator).mul_(std::numbers::pi).tan_().mul_(sigma).add_(median);
  });
}

// The time of an exponential distribution of rate -log(1 - p), in whole units.
Tensor& geometric_(Tensor& self, double p, GivenGenerator generator) {
  if (!(p > 0 && p < 1) || !is_drawn(self)) return Host<"geometric_", &at::cpu::geometric_>::call(self, p, generator);
  return draw_into(self, [&](Tensor& numbers) { numbers.exponential_(-std::log1p(-p), generator).ceil_(); });
}

Tensor normal_of_means(const Tensor& mean, double std, GivenGenerator generator) {
  using Kernel = Tensor (*)(const Tensor&, double, GivenGenerator);
  if (!(std >= 0) || !is_drawn(mean))
    return Host<"normal.Tensor_float", static_cast<Kernel>(&at::cpu::normal)>::call(mean, std, generator);
  Tensor out = at::empty_like(mean, at::MemoryFormat::Contiguous);
  return out.normal_(0, std, generator).add_(mean);
}

// Whether deviations may be multiplied with numbers drawn into a tensor of `like`'s type. Waits for the device, as
// PyTorch's own check does; in a capture, where nothing can wait, their signs are not checked.
bool are_deviations(const Tensor& std, const Tensor& like) {
  if (!is_drawn(std) || std.device() != like.device() || std.scalar_type() != like.scalar_type()) return false;
  if (any_capture() && capture_of(current_stream(like.device().index())) != nullptr) return true;
  return at::all(std.ge(0)).item<bool>();
}

Tensor normal_of_deviations(double mean, const Tensor& std, GivenGenerator generator) {
  using Kernel = Tensor (*)(double, const Tensor&, GivenGenerator);
  if (!are_deviations(std, std))
    return Host<"normal.float_Tensor", static_cast<Kernel>(&at::cpu::normal)>::call(mean, std, generator);
  Tensor out = at::empty_like(std, at::MemoryFormat::Contiguous);
  return out.normal_(0, 1, generator).mul_(std).add_(mean);
}

Tensor normal_of_both(const Tensor& mean, const Tensor& std, GivenGenerator generator) {
  using Kernel = Tensor (*)(const Tensor&, const Tensor&, GivenGenerator);
  if (!is_drawn(mean) || !are_deviations(std, mean))
    return Host<"normal.Tensor_Tensor", static_cast<Kernel>(&at::cpu::normal)>::call(mean, std, generator);
  Tensor out = at::empty(at::infer_size_dimvector(mean.sizes(), std.sizes()), mean.options());
  return out.normal_(0, 1, generator).mul_(std).add_(mean);
}

// The slope of a negative number is drawn, that of another is 1.
Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper,
                        bool training, GivenGenerator generator) {
  const double from = lower.toDouble();
  const double to = upper.toDouble();
  if (!training) return at::leaky_relu(self, (from + to) / 2);
  if (!(from <= to) || !std::isfinite(from) || !std::isfinite(to) || !is_drawn(self) || !is_drawn(noise) ||
      self.sizes() != noise.sizes() || self.scalar_type() != noise.scalar_type())
    return Host<"rrelu_with_noise", &at::cpu::rrelu_with_noise>::call(self, noise, lower, upper, training, generator);
  // The operator's own call has raised the version of `noise`.
  const at::AutoDispatchBelowADInplaceOrView below;
  noise.uniform_(from, to, generator);
  noise.copy_(at::where(self.le(0), noise, at::Scalar(1)));
  return self.mul(noise);
}

Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper, bool training,
                          GivenGenerator generator) {
  return self.copy_(rrelu_with_noise(self, noise, lower, upper, training, std::move(generator)));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("log_normal_", &log_normal_);
  m.impl("cauchy_", &cauchy_);
  m.impl("geometric_", &geometric_);
  m.impl("normal.Tensor_float", &normal_of_means);
  m.impl("normal.float_Tensor", &normal_of_deviations);
  m.impl("normal.Tensor_Tensor", &normal_of_both);
  m.impl("rrelu_with_noise", &rrelu_with_noise);
  m.impl("rrelu_with_noise_", &rrelu_with_noise_);
}

}  // namespace
}  // namespace torch_npu
