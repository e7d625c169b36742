// Random numbers by aclnn: its kernels use the generator's seed and offset (Philox), without waiting. Arguments out of
// range, and types that a kernel does not support, fall back to ATen's kernels, which raise ATen's errors.

#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/bernoulli_cpu_dispatch.h>
#include <ATen/ops/exponential_cpu_dispatch.h>
#include <ATen/ops/multinomial_cpu_dispatch.h>
#include <ATen/ops/normal_cpu_dispatch.h>
#include <ATen/ops/random_cpu_dispatch.h>
#include <ATen/ops/randperm_cpu_dispatch.h>
#include <ATen/ops/uniform_cpu_dispatch.h>
#include <aclnnop/aclnn_inplace_bernoulli_tensor.h>
#include <aclnnop/aclnn_inplace_normal.h>
#include <aclnnop/aclnn_inplace_normal_tensor.h>
#include <aclnnop/aclnn_inplace_random.h>
#include <aclnnop/aclnn_inplace_random_tensor.h>
#include <aclnnop/aclnn_inplace_random_without_from_to.h>
#include <aclnnop/aclnn_inplace_random_without_from_to_tensor.h>
#include <aclnnop/aclnn_inplace_uniform.h>
#include <aclnnop/aclnn_inplace_uniform_tensor.h>
#include <aclnnop/aclnn_multinomial.h>
#include <aclnnop/aclnn_multinomial_tensor.h>
#include <aclnnop/aclnn_randperm.h>
#include <aclnnop/aclnn_sim_thread_exponential.h>
#include <aclnnop/softnpu_exponential_seed_tensor.h>
#include <aclnnop/softnpu_inplace_bernoulli_tensor_seed_tensor.h>
#include <aclnnop/softnpu_randperm_seed_tensor.h>
#include <torch/library.h>

#include <cmath>
#include <limits>

#include "aten/aclnn/check.h"
#include "aten/aclnn/host.h"
#include "aten/empty.h"
#include "core/call_site.h"
#include "core/device.h"
#include "core/random_op.h"

namespace torch_npu {
namespace {

using at::Tensor;
using GivenGenerator = std::optional<at::Generator>;
using aclnn_check::Host;

constexpr aclnn_check::Dtypes kIntegral = aclnn_check::dtypes({at::kChar, at::kShort, at::kInt, at::kLong, at::kByte});

// Fills `self` by `op(self, arguments..., counter...)`; false if the host must do it.
template <typename Op, typename... Arguments>
bool draws(const Op& op, Tensor& self, aclnn_check::Dtypes types, const GivenGenerator& generator,
           const Arguments&... arguments) {
  aclnn_check::Check check;
  if (!op.available() || !check.writes(self, types) || at::has_internal_overlap(self) != at::MemOverlap::No)
    return false;
  bind_device(check.device());
  return op.draw(generator, check.device(), [&](const auto& variant, const auto&... counter) {
    return variant.try_launch(check.device(), self, arguments..., counter...);
  });
}

bool is_one_of(at::ScalarType type, aclnn_check::Dtypes types) { return (aclnn_check::dtype_bit(type) & types) != 0; }

// For one of the types above.
double largest_of(at::ScalarType type) {
  double largest = 0;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, type, "largest_of",
                             [&] { largest = static_cast<double>(std::numeric_limits<scalar_t>::max()); });
  return largest;
}

Tensor& normal_(Tensor& self, double mean, double std, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnInplaceNormalGetWorkspaceSize),
                        decltype(aclnnInplaceNormalTensorGetWorkspaceSize)>
      op("aclnnInplaceNormal", "aclnnInplaceNormalTensor");
  const bool are_floats =
      aclnn_check::is_float(self.scalar_type(), mean) && aclnn_check::is_float(self.scalar_type(), std);
  if (std >= 0 && are_floats &&
      draws(op, self, aclnn_check::kFloating, generator, static_cast<float>(mean), static_cast<float>(std)))
    return self;
  return Host<"normal_", &at::cpu::normal_>::call(self, mean, std, generator);
}

Tensor& uniform_(Tensor& self, double from, double to, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnInplaceUniformGetWorkspaceSize),
                        decltype(aclnnInplaceUniformTensorGetWorkspaceSize)>
      op("aclnnInplaceUniform", "aclnnInplaceUniformTensor");
  const bool is_range = from <= to && std::isfinite(from) && std::isfinite(to) &&
                        is_one_of(self.scalar_type(), aclnn_check::kFloating) &&
                        std::max(std::abs(from), std::abs(to)) <= largest_of(self.scalar_type()) &&
                        to - from <= largest_of(self.scalar_type());
  if (is_range && draws(op, self, aclnn_check::kFloating, generator, from, to)) return self;
  return Host<"uniform_", &at::cpu::uniform_>::call(self, from, to, generator);
}

Tensor& exponential_(Tensor& self, double lambda, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnSimThreadExponentialGetWorkspaceSize),
                        decltype(softnpuExponentialSeedTensorGetWorkspaceSize)>
      op("aclnnSimThreadExponential", "softnpuExponentialSeedTensor");
  if (lambda > 0 && std::isfinite(lambda) && draws(op, self, aclnn_check::kFloating, generator, self.numel(), lambda))
    return self;
  return Host<"exponential_", &at::cpu::exponential_>::call(self, lambda, generator);
}

// The first integer of a floating-point type with a gap behind it; 0 for another type.
int64_t last_integer(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16: return int64_t{1} << 8;
    case at::kHalf: return int64_t{1} << 11;
    case at::kFloat: return int64_t{1} << 24;
    case at::kDouble: return int64_t{1} << 53;
    default: return 0;
  }
}

// Whether the type represents every integer of [from, to).
bool holds(at::ScalarType type, int64_t from, int64_t to) {
  if (from >= to) return false;
  if (const int64_t last = last_integer(type); last > 0) return -last <= from && to - 1 <= last;
  if (!is_one_of(type, kIntegral)) return false;
  const double largest = largest_of(type);
  return static_cast<double>(from) >= (type == at::kByte ? 0 : -largest) && static_cast<double>(to - 1) <= largest;
}

bool draws_integers(Tensor& self, int64_t from, int64_t to, const GivenGenerator& generator) {
  static const RandomOp<decltype(aclnnInplaceRandomGetWorkspaceSize),
                        decltype(aclnnInplaceRandomTensorGetWorkspaceSize)>
      op("aclnnInplaceRandom", "aclnnInplaceRandomTensor");
  return holds(self.scalar_type(), from, to) &&
         draws(op, self, aclnn_check::kFloating | kIntegral, generator, from, to);
}

Tensor& random_from(Tensor& self, int64_t from, std::optional<int64_t> to, GivenGenerator generator) {
  if (to.has_value() && draws_integers(self, from, *to, generator)) return self;
  using Kernel = Tensor& (*)(Tensor&, int64_t, std::optional<int64_t>, GivenGenerator);
  return Host<"random_.from", static_cast<Kernel>(&at::cpu::random_)>::call(self, from, to, generator);
}

Tensor& random_to(Tensor& self, int64_t to, GivenGenerator generator) {
  if (draws_integers(self, 0, to, generator)) return self;
  using Kernel = Tensor& (*)(Tensor&, int64_t, GivenGenerator);
  return Host<"random_.to", static_cast<Kernel>(&at::cpu::random_)>::call(self, to, generator);
}

Tensor& random_(Tensor& self, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnInplaceRandomWithoutFromToGetWorkspaceSize),
                        decltype(aclnnInplaceRandomWithoutFromToTensorGetWorkspaceSize)>
      op("aclnnInplaceRandomWithoutFromTo", "aclnnInplaceRandomWithoutFromToTensor");
  if (draws(op, self, aclnn_check::kFloating | kIntegral, generator)) return self;
  using Kernel = Tensor& (*)(Tensor&, GivenGenerator);
  return Host<"random_", static_cast<Kernel>(&at::cpu::random_)>::call(self, generator);
}

Tensor& randperm_out(int64_t n, GivenGenerator generator, Tensor& out) {
  static const RandomOp<decltype(aclnnRandpermGetWorkspaceSize), decltype(softnpuRandpermSeedTensorGetWorkspaceSize)>
      op("aclnnRandperm", "softnpuRandpermSeedTensor");
  aclnn_check::Check check;
  if (!op.available() || n <= 0 || !check.takes_output(out) || !out.is_contiguous() ||
      !is_one_of(out.scalar_type(), kIntegral) || static_cast<double>(n) > largest_of(out.scalar_type()))
    return Host<"randperm.generator_out", &at::cpu::randperm_outf>::call(n, generator, out);
  bind_device(check.device());
  out.resize_({n});
  op.draw(generator, check.device(),
          [&](const auto& variant, const auto&... counter) { variant(check.device(), n, counter..., out); });
  return out;
}

Tensor multinomial(const Tensor& self, int64_t count, bool replacement, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnMultinomialGetWorkspaceSize), decltype(aclnnMultinomialTensorGetWorkspaceSize)>
      op("aclnnMultinomial", "aclnnMultinomialTensor");
  aclnn_check::Check check;
  const bool fits = op.available() && check.takes(self, aclnn_check::kFloating) &&
                    (self.dim() == 1 || self.dim() == 2) && count > 0 && (replacement || count <= self.size(-1));
  if (!fits) return Host<"multinomial", &at::cpu::multinomial>::call(self, count, replacement, generator);
  bind_device(check.device());
  at::DimVector sizes(self.sizes());
  sizes.back() = count;
  Tensor out = make_tensor(sizes, at::kLong, check.device());
  const CallSite site;
  op.draw(generator, check.device(), [&](const auto& variant, const auto&... counter) {
    variant(check.device(), self, count, replacement, counter..., out);
  });
  return out;
}

// The numbers of another tensor are the probabilities of ones. One out of range is an error of the run.
Tensor& bernoulli_of(Tensor& self, const Tensor& p, GivenGenerator generator) {
  static const RandomOp<decltype(aclnnInplaceBernoulliTensorGetWorkspaceSize),
                        decltype(softnpuInplaceBernoulliTensorSeedTensorGetWorkspaceSize)>
      op("aclnnInplaceBernoulliTensor", "softnpuInplaceBernoulliTensorSeedTensor");
  aclnn_check::Check check;
  const CallSite site;
  if (op.available() && check.takes(p, aclnn_check::kFloating) && p.sizes() == self.sizes() &&
      p.device() == self.device() && draws(op, self, aclnn_check::kFloating | kIntegral, generator, p))
    return self;
  using Kernel = Tensor& (*)(Tensor&, const Tensor&, GivenGenerator);
  return Host<"bernoulli_.Tensor", static_cast<Kernel>(&at::cpu::bernoulli_)>::call(self, p, generator);
}

Tensor& bernoulli_out(const Tensor& p, GivenGenerator generator, Tensor& out) {
  at::assert_no_internal_overlap(out);
  at::assert_no_partial_overlap(out, p);
  out.resize_(p.sizes());
  return bernoulli_of(out, p, std::move(generator));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("normal_", &normal_);
  m.impl("uniform_", &uniform_);
  m.impl("exponential_", &exponential_);
  m.impl("random_.from", &random_from);
  m.impl("random_.to", &random_to);
  m.impl("random_", &random_);
  m.impl("randperm.generator_out", &randperm_out);
  m.impl("multinomial", &multinomial);
  m.impl("bernoulli_.Tensor", &bernoulli_of);
  m.impl("bernoulli.out", &bernoulli_out);
}

}  // namespace
}  // namespace torch_npu
