#pragma once
// One part of a plan: several of them share a workspace and run one behind the other.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "ops/conv/problem.h"

namespace softnpu {

struct Step {
  Checked workspace_bytes = {};
  double flops = 0;
  std::function<void(char* workspace)> run;
  std::shared_ptr<const Fusible> fusible = nullptr;  // the same work, as a fusion root
};

// As products of matrices: kernels of one tap over images whose channels lie one behind the other. Nothing where it
// is not that, or another way is better.
std::optional<Step> pointwise_convolution(const ConvProblem& problem);
// By fewer multiplications. Nothing where the problem does not allow less than float32's precision, or it is slower.
std::optional<Step> winograd_convolution(const ConvProblem& problem);
// The same of a gradient of the filter.
std::optional<Step> winograd_gradient(const ConvProblem& problem);
// By oneDNN: float32, float16, bfloat16. Nothing where it refuses the problem.
std::optional<Step> onednn_convolution(const ConvProblem& problem);
// By softnpu's own kernel: every dtype.
Step reference_convolution(const ConvProblem& problem);
// The sum of each channel of `image` in `batch` images, written to `to`, of `dtype`, `stride` elements apart.
Step channel_sums(const Image& image, int64_t batch, char* to, int64_t stride, aclDataType dtype);

}  // namespace softnpu
