#include "ops/nn/im2col/operators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/invalid.h"
#include "ops/core/nothing.h"
#include "ops/core/view/view.h"
#include "ops/nn/conv/spatial.h"
#include "ops/nn/im2col/im2col.h"

namespace softnpu {
namespace {

// One value for both dimensions, or one each.
Status read_pair(const aclIntArray& values, const char* name, int64_t least, Plane* out) {
  Triple read{};
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&values, name, 2, least, least, &read));
  *out = {read[1], read[2]};
  return Status::ok();
}

Status read_problem(const WindowAttributes& a, const aclTensor& image, const aclTensor& columns, Im2colProblem* p) {
  SOFTNPU_RETURN_IF_ERROR(read_pair(a.kernel, "kernelSize", 1, &p->kernel));
  SOFTNPU_RETURN_IF_ERROR(read_pair(a.dilation, "dilation", 1, &p->dilation));
  SOFTNPU_RETURN_IF_ERROR(read_pair(a.padding, "padding", 0, &p->padding));
  SOFTNPU_RETURN_IF_ERROR(read_pair(a.stride, "stride", 1, &p->stride));
  if (!is_known(image.dtype) || image.dtype != columns.dtype || image.dims.size() != columns.dims.size() + 1) {
    return invalid(text(describe(image), " and ", describe(columns), " are no image and its columns"));
  }
  SOFTNPU_RETURN_IF_ERROR(read_image(image, 2, "the image", &p->batch, &p->image));
  SOFTNPU_RETURN_IF_ERROR(memory_of(columns, "the columns", &p->data));
  p->columns = columns.dims.size() == 2 ? unsqueeze(columns, 0) : columns;
  const Triple& sizes = p->image.sizes;
  const WindowLine down{p->kernel.height, p->stride.height, p->padding.height, p->dilation.height};
  const WindowLine across{p->kernel.width, p->stride.width, p->padding.width, p->dilation.width};
  SOFTNPU_RETURN_IF_ERROR(count_windows(sizes[1], down, false, &p->windows.height));
  SOFTNPU_RETURN_IF_ERROR(count_windows(sizes[2], across, false, &p->windows.width));
  Dims needed = {p->batch, 0, 0};
  SOFTNPU_RETURN_IF_ERROR(
      fit(checked(p->image.channels) * p->kernel.height * p->kernel.width, "the number of rows", &needed[1]));
  SOFTNPU_RETURN_IF_ERROR(fit(checked(p->windows.height) * p->windows.width, "the number of windows", &needed[2]));
  if (needed[2] > 0 && std::ranges::equal(p->columns.dims, needed)) return Status::ok();
  return invalid(text("the columns are ", describe(columns), ", where ", describe_shape({needed.data(), needed.size()}),
                      " is needed"));
}

}  // namespace

Status im2col(const WindowAttributes& a, const aclTensor& self, const aclTensor& out, Plan* plan) {
  Im2colProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_problem(a, self, out, &p));
  *plan = element_count(out) == 0 ? no_work() : plan_im2col(std::move(p));
  plan->describe = describe_later({&self, &out});
  return Status::ok();
}

Status col2im(const WindowAttributes& a, const aclTensor& self, const aclIntArray& input_size, const aclTensor& out,
              Plan* plan) {
  Im2colProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_problem(a, out, self, &p));
  if (input_size.size() != 2 || input_size[0] != p.image.sizes[1] || input_size[1] != p.image.sizes[2]) {
    return invalid(text("inputSize is not that of ", describe(out)));
  }
  *plan = element_count(out) == 0 ? no_work() : plan_col2im(std::move(p));
  plan->describe = describe_later({&self, &out});
  return Status::ok();
}

}  // namespace softnpu
