#include "ops/core/view/view.h"

#include "base/text.h"
#include "ops/core/describe.h"

namespace softnpu {
namespace {

Dims with(const Dims& dims, size_t at, int64_t value) {
  Dims out(dims.begin(), dims.begin() + at);
  out.push_back(value);
  for (size_t i = at; i < dims.size(); ++i) out.push_back(dims[i]);
  return out;
}

}  // namespace

aclTensor unsqueeze(const aclTensor& tensor, size_t at) {
  aclTensor view = tensor;
  view.dims = with(tensor.dims, at, 1);
  view.strides = with(tensor.strides, at, 0);
  return view;
}

aclTensor permute(const aclTensor& tensor, std::initializer_list<size_t> order) {
  aclTensor view = tensor;
  size_t to = 0;
  for (size_t from : order) {
    view.dims[to] = tensor.dims[from];
    view.strides[to++] = tensor.strides[from];
  }
  return view;
}

Status expand(const aclTensor& tensor, std::span<const int64_t> dims, const char* role, aclTensor* out) {
  const size_t own = tensor.dims.size();
  Status misfit = {ACLNN_ERR_PARAM_INVALID, text(role, " has the shape ", describe_shape(tensor.dims),
                                                 ", which cannot be broadcast to ", describe_shape(dims))};
  if (own > dims.size()) return misfit;
  *out = tensor;
  out->dims = Dims(dims.begin(), dims.end());
  out->strides = Dims(dims.size(), 0);
  for (size_t i = 0; i < own; ++i) {
    const size_t to = dims.size() - own + i;
    if (tensor.dims[i] == dims[to]) {
      out->strides[to] = tensor.strides[i];
    } else if (tensor.dims[i] != 1) {
      return misfit;
    }
  }
  return Status::ok();
}

}  // namespace softnpu
