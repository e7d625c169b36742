#include "ops/nn/grid_sample/grid_sample.h"

#include <span>
#include <string>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/nn/grid_sample/algorithms.h"

namespace softnpu {
namespace {

std::string work_of(const char* kind, const GridSampleProblem& p) {
  const auto sizes = [&p](const Image& image) { return describe_shape(std::span(image.sizes).last(p.dims)); };
  return text(kind, p.batch, " x ", p.in.channels, " planes of ", sizes(p.in), " at ", sizes(p.out), " positions");
}

}  // namespace

Plan plan_grid_sample(const GridSampleProblem& problem) {
  return *first_of(kSamplers, problem, [&] { return work_of("sampling of ", problem); });
}

Plan plan_grid_sample_backward(const GridSampleProblem& problem, const Image& in_grad, const Image& grid_grad) {
  const GridSampleGradients gradients{problem, in_grad, grid_grad};
  return *first_of(kGradientSamplers, gradients, [&] { return work_of("gradient of sampling of ", problem); });
}

}  // namespace softnpu
