#include "ops/nn/channel_mix/sepia.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/tiles.h"
#include "ops/nn/channel_mix/mix.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kColors = 3;
constexpr Weights kSepia[kColors] = {{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}};
// The cost of one position in the operations of threads_for: memory dominates.
constexpr double kFlopsPerPosition = 96;

size_t channel_of(const aclTensor& image) { return image.dims.size() - 3; }

Status check(const aclTensor& image, const aclTensor& three, const char* role) {
  const auto is_image = [](const aclTensor& tensor) {
    return is_known(tensor.dtype) && is_floating(tensor.dtype) && tensor.dims.size() >= 3;
  };
  bool fits =
      is_image(image) && is_image(three) && image.dims.size() == three.dims.size() && image.dtype == three.dtype;
  for (size_t i = 0; fits && i < image.dims.size(); ++i) {
    const bool is_channel = i == channel_of(image);
    fits =
        is_channel ? three.dims[i] == 3 && (image.dims[i] == 3 || image.dims[i] == 1) : image.dims[i] == three.dims[i];
  }
  if (fits) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("the image is ", describe(image), " and ", role, " ", describe(three),
               "; [..., 3 or 1, height, width] and [..., 3, height, width] of one floating-point type are taken")};
}

// One color plane of an image; the only plane of an image with one channel.
aclTensor plane(const aclTensor& image, size_t color) {
  aclTensor view = image;
  const size_t channel = channel_of(image);
  if (image.dims[channel] > 1) view.offset += static_cast<int64_t>(color) * image.strides[channel];
  view.dims[channel] = 1;
  return view;
}

// Each output is the weighted sum of the three inputs.
Status plan_mix(const std::vector<aclTensor>& outs, const std::vector<aclTensor>& ins, std::vector<Weights> weights,
                Plan* plan) {
  std::vector<const aclTensor*> tensors;
  tensors.reserve(outs.size() + ins.size());
  for (const aclTensor& out : outs) tensors.push_back(&out);
  for (const aclTensor& in : ins) tensors.push_back(&in);
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(tensors, outs.size(), &space));
  const aclDataType as = outs[0].dtype == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT;
  std::vector<Tiles::Use> uses;
  for (size_t k = 0; k < tensors.size(); ++k) {
    uses.push_back({as, k < outs.size() ? Tiles::Access::kWrite : Tiles::Access::kRead});
  }
  auto tiles = std::make_shared<const Tiles>(std::move(space), uses);
  const double cost = kFlopsPerPosition * static_cast<double>(tiles->count());
  plan->work = cost;
  plan->describe = describe_later(tensors);
  plan->run = [=, weights = std::move(weights), threads = threads_for(cost)](void*) {
    const auto run_as = [&]<typename T>(T) {
      parallel_for(tiles->count(), Tiles::kGrain, threads, [&](int64_t first, int64_t last) {
        tiles->run(first, last, [&](int64_t, void* const* values, size_t count) {
          const T* const in[3] = {static_cast<const T*>(values[weights.size()]),
                                  static_cast<const T*>(values[weights.size() + 1]),
                                  static_cast<const T*>(values[weights.size() + 2])};
          T* out[kColors] = {};
          for (size_t k = 0; k < weights.size(); ++k) out[k] = static_cast<T*>(values[k]);
          mix(weights, in, out, count);
        });
      });
    };
    if (as == ACL_DOUBLE) {
      run_as(double());
    } else {
      run_as(float());
    }
    return Status::ok();
  };
  return Status::ok();
}

std::vector<aclTensor> planes(const aclTensor& image) { return {plane(image, 0), plane(image, 1), plane(image, 2)}; }

}  // namespace

Status sepia(const aclTensor& image, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check(image, out, "the result"));
  return plan_mix(planes(out), planes(image), {kSepia[0], kSepia[1], kSepia[2]}, plan);
}

Status sepia_grad(const aclTensor& grad, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check(out, grad, "the gradient"));
  std::vector<Weights> weights;
  weights.reserve(kColors);
  for (size_t color = 0; color < kColors; ++color) {
    weights.push_back({kSepia[0][color], kSepia[1][color], kSepia[2][color]});
  }
  if (out.dims[channel_of(out)] == 3) return plan_mix(planes(out), planes(grad), std::move(weights), plan);
  Weights grey{};  // the channel was used for all three colors
  for (const Weights& color : weights) {
    for (size_t k = 0; k < kColors; ++k) grey[k] += color[k];
  }
  return plan_mix({plane(out, 0)}, planes(grad), {grey}, plan);
}

}  // namespace softnpu
