#include "ops/nn/grid_sample/operators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/invalid.h"
#include "ops/core/listed.h"
#include "ops/core/nothing.h"
#include "ops/nn/grid_sample/grid_sample.h"

namespace softnpu {
namespace {

// Reads the grid as an image with coordinates as channels.
Status read_grid(const aclTensor& grid, size_t dims, Image* out) {
  aclTensor rotated = grid;
  std::rotate(rotated.dims.begin() + 1, rotated.dims.end() - 1, rotated.dims.end());
  std::rotate(rotated.strides.begin() + 1, rotated.strides.end() - 1, rotated.strides.end());
  int64_t batch = 0;
  return read_image(rotated, dims, "the grid", &batch, out);
}

Status read_problem(const GridAttributes& a, const aclTensor& input, const aclTensor& grid, const aclTensor& out,
                    GridSampleProblem* p) {
  const bool is_known_mode = a.mode >= 0 && a.mode <= (a.dims == 2 ? 2 : 1);
  if (!is_known_mode) return invalid(text("interpolation mode ", a.mode, " does not exist in ", a.dims, " dimensions"));
  if (a.padding < 0 || a.padding > 2) return invalid(text("padding mode ", a.padding, " does not exist"));
  const std::array<const aclTensor*, 3> tensors = {&input, &grid, &out};
  for (const aclTensor* tensor : tensors) {
    if (!is_known(tensor->dtype) || !is_floating(tensor->dtype) || tensor->dtype != input.dtype) {
      return invalid(text("no grid sampling is defined of ", describe(tensors)));
    }
    if (tensor->dims.size() != a.dims + 2) {
      return invalid(text(describe(*tensor), " has not ", a.dims + 2, " dimensions"));
    }
  }
  const bool same_positions = std::equal(out.dims.begin() + 2, out.dims.end(), grid.dims.begin() + 1);
  if (input.dims[0] != grid.dims[0] || input.dims[0] != out.dims[0] || input.dims[1] != out.dims[1] ||
      grid.dims[a.dims + 1] != static_cast<int64_t>(a.dims) || !same_positions) {
    return invalid(text("the shapes of input, grid and result do not fit: ", describe(tensors)));
  }
  p->dims = a.dims;
  p->mode = static_cast<GridMode>(a.mode);
  p->padding = static_cast<GridPadding>(a.padding);
  p->align_corners = a.align_corners;
  int64_t batch = 0;
  SOFTNPU_RETURN_IF_ERROR(read_image(input, a.dims, "the input", &p->batch, &p->in));
  SOFTNPU_RETURN_IF_ERROR(read_image(out, a.dims, "the result", &batch, &p->out));
  SOFTNPU_RETURN_IF_ERROR(read_grid(grid, a.dims, &p->grid));
  // Planes of both are converted in host memory.
  SOFTNPU_RETURN_IF_ERROR(check_listed(checked(p->in.spatial_size()), "positions of the input"));
  SOFTNPU_RETURN_IF_ERROR(check_listed(checked(p->out.spatial_size()), "positions of the result"));
  if (p->in.spatial_size() == 0) return invalid(text("the input ", describe(input), " has no positions"));
  return Status::ok();
}

Status check_like(const aclTensor& gradient, const aclTensor& of) {
  if (gradient.dtype == of.dtype && std::ranges::equal(gradient.dims, of.dims)) return Status::ok();
  return invalid(text("the gradient of ", describe(of), " is ", describe(gradient)));
}

}  // namespace

Status grid_sampler(const GridAttributes& a, const aclTensor& input, const aclTensor& grid, const aclTensor& out,
                    Plan* plan) {
  GridSampleProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_problem(a, input, grid, out, &p));
  *plan = element_count(out) == 0 ? no_work() : plan_grid_sample(p);
  plan->describe = describe_later({&input, &grid});
  return Status::ok();
}

Status grid_sampler_backward(const GridAttributes& a, const aclTensor& grad, const aclTensor& input,
                             const aclTensor& grid, const aclBoolArray& mask, const aclTensor* input_grad,
                             const aclTensor* grid_grad, Plan* plan) {
  GridSampleProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_problem(a, input, grid, grad, &p));
  if (mask.size() != 2) return invalid(text("outputMask has ", mask.size(), " values, where 2 are needed"));
  Image input_image;
  Image grid_image;
  int64_t batch = 0;
  if (mask[0]) {
    SOFTNPU_RETURN_IF_ERROR(not_null(input_grad, "inputGrad"));
    SOFTNPU_RETURN_IF_ERROR(check_like(*input_grad, input));
    SOFTNPU_RETURN_IF_ERROR(read_image(*input_grad, a.dims, "inputGrad", &batch, &input_image));
  }
  if (mask[1]) {
    SOFTNPU_RETURN_IF_ERROR(not_null(grid_grad, "gridGrad"));
    SOFTNPU_RETURN_IF_ERROR(check_like(*grid_grad, grid));
    SOFTNPU_RETURN_IF_ERROR(read_grid(*grid_grad, a.dims, &grid_image));
  }
  // Without channels only the grid's gradient is written.
  *plan = p.batch == 0 ? no_work() : plan_grid_sample_backward(p, input_image, grid_image);
  plan->describe = describe_later({&grad, &input, &grid});
  return Status::ok();
}

}  // namespace softnpu
