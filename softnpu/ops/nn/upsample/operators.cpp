#include "ops/nn/upsample/operators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/invalid.h"
#include "ops/core/listed.h"
#include "ops/core/nothing.h"
#include "ops/nn/upsample/resample.h"

namespace softnpu {
namespace {

bool is_nearest(Interpolation mode) { return mode == Interpolation::kNearest || mode == Interpolation::kNearestExact; }

bool is_defined(Interpolation mode, aclDataType dtype) {
  if (!is_known(dtype) || is_complex(dtype) || dtype == ACL_BOOL) return false;
  return is_floating(dtype) || is_nearest(mode);
}

// The image to be resized and the resized one.
struct Images {
  int64_t batch = 0;
  Image from;
  Image to;
};

Status read_images(const UpsampleAttributes& a, size_t dims, const aclTensor& from, const aclTensor& to, Images* out) {
  if (from.dtype != to.dtype || !is_defined(a.mode, from.dtype)) {
    return invalid(text("no interpolation is defined between ", describe(from), " and ", describe(to)));
  }
  int64_t batch = 0;
  SOFTNPU_RETURN_IF_ERROR(read_image(from, dims, "the image", &out->batch, &out->from));
  SOFTNPU_RETURN_IF_ERROR(read_image(to, dims, "the resized image", &batch, &out->to));
  if (batch != out->batch || out->from.channels != out->to.channels || from.dims.size() != to.dims.size()) {
    return invalid(text("the image is ", describe(from), " and becomes ", describe(to), ": batch and channels differ"));
  }
  const auto& sizes = out->to.sizes;
  if (a.output_size.size() != dims || !std::equal(a.output_size.begin(), a.output_size.end(), sizes.end() - dims)) {
    return invalid(text("output_size is not that of ", describe(to)));
  }
  for (const Image* image : {&out->from, &out->to}) {
    for (int64_t size : image->sizes) SOFTNPU_RETURN_IF_ERROR(check_listed(checked(size), "positions"));
  }
  if (out->from.spatial_size() < 1 || out->to.spatial_size() < 1) return invalid("an image has no positions");
  return Status::ok();
}

Taps taps_along(const UpsampleAttributes& a, size_t dims, size_t i, const Images& images) {
  if (i < 3 - dims) return taps_of<float>({Interpolation::kNearest, 1, 1});
  const Resize resize{a.mode, images.from.sizes[i], images.to.sizes[i], a.align_corners, a.scales[i + dims - 3]};
  return compute_type_of(images.from.dtype) == ComputeType::kF64 ? taps_of<double>(resize) : taps_of<float>(resize);
}

}  // namespace

Status upsample(const UpsampleAttributes& a, size_t dims, const aclTensor& self, const aclTensor& out, Plan* plan) {
  Images images;
  SOFTNPU_RETURN_IF_ERROR(read_images(a, dims, self, out, &images));
  if (element_count(out) == 0) {
    *plan = no_work();
    return Status::ok();
  }
  ResampleProblem problem{images.batch, images.from, images.to, {}};
  for (size_t i = 0; i < 3; ++i) problem.taps[i] = taps_along(a, dims, i, images);
  *plan = plan_resample(std::move(problem));
  plan->describe = describe_later({&self, &out});
  return Status::ok();
}

Status upsample_backward(const UpsampleAttributes& a, size_t dims, const aclTensor& grad, const aclIntArray& input_size,
                         const aclTensor& grad_input, Plan* plan) {
  Images images;
  SOFTNPU_RETURN_IF_ERROR(read_images(a, dims, grad_input, grad, &images));
  if (!std::ranges::equal(input_size, grad_input.dims)) {
    return invalid(text("input_size is not that of ", describe(grad_input)));
  }
  if (element_count(grad_input) == 0) {
    *plan = no_work();
    return Status::ok();
  }
  ResampleProblem problem{images.batch, images.to, images.from, {}};
  for (size_t i = 0; i < 3; ++i) problem.taps[i] = taps_along(a, dims, i, images).transposed(images.from.sizes[i]);
  *plan = plan_resample(std::move(problem));
  plan->describe = describe_later({&grad, &grad_input});
  return Status::ok();
}

}  // namespace softnpu
