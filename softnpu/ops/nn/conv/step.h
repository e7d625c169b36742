#pragma once
// A step of a plan. The steps of a plan share its workspace and run in order.

#include <cstdint>
#include <functional>
#include <memory>

#include "ops/core/tuning/attempt.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

struct Step {
  Checked workspace_bytes = {};
  double flops = 0;
  std::function<void(char* workspace)> run;
  std::shared_ptr<const Fusible> fusible = nullptr;  // the same work, as a fusion root
  uint64_t packed_bytes = 0;                         // of packed weights that it caches
};

// Matrix products, for 1 x 1 filters and images whose channels are contiguous.
Attempt<Step> pointwise_convolution(const ConvProblem& problem);
// Each channel on its own, where rows of images are contiguous.
Attempt<Step> plane_convolution(const ConvProblem& problem);
// Winograd's algorithm, if the problem does not require float32's full precision.
Attempt<Step> winograd_convolution(const ConvProblem& problem);
// The same for large filters, which each call transforms block by block: nothing is cached. Called by
// winograd_convolution().
Attempt<Step> streamed_winograd_convolution(const ConvProblem& problem);
// The same for a gradient of the filter.
Attempt<Step> winograd_gradient(const ConvProblem& problem);
// oneDNN: float32, float16, bfloat16.
Attempt<Step> onednn_convolution(const ConvProblem& problem);
// Whether it splits the inputs: the planner asks for it (`splits`), and there are enough channels.
bool is_split(const ConvProblem& problem);
// softnpu's own kernel: every dtype, any layout.
Attempt<Step> reference_convolution(const ConvProblem& problem);
// Sums each channel of `image` over `batch` images, and writes the sums to `to`, of `dtype`, `stride` elements apart.
Step channel_sums(const Image& image, int64_t batch, char* to, int64_t stride, aclDataType dtype);

}  // namespace softnpu
