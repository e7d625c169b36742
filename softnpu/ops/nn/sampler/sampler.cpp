#include "ops/nn/sampler/sampler.h"

#include <span>
#include <string>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/nn/sampler/algorithms.h"

namespace softnpu {
namespace {

std::string work_of(const char* kind, const SamplerProblem& p) {
  const auto sizes = [&p](const Image& image) { return describe_shape(std::span(image.sizes).last(p.dims)); };
  return text(kind, p.batch, " x ", p.in.channels, " planes of ", sizes(p.in), " at ", sizes(p.out), " positions");
}

}  // namespace

Plan plan_sampler(const SamplerProblem& problem) {
  return *first_of(kSamplers, problem, [&] { return work_of("sampling of ", problem); });
}

Plan plan_sampler_backward(const SamplerProblem& problem, const Image& in_grad, const Image& grid_grad) {
  const SamplerGradients gradients{problem, in_grad, grid_grad};
  return *first_of(kGradientSamplers, gradients, [&] { return work_of("gradient of sampling of ", problem); });
}

}  // namespace softnpu
