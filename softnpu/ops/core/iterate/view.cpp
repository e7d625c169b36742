#include "ops/core/iterate/view.h"

#include <algorithm>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {

int64_t View::count() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

View View::narrow(size_t dim, int64_t first, int64_t size) const {
  View part = *this;
  if (size > 0 && part.data != nullptr) part.data += first * strides[dim];
  part.sizes[dim] = size;
  return part;
}

View View::flip(size_t dim) const {
  View flipped = *this;
  if (sizes[dim] > 0 && data != nullptr) flipped.data += (sizes[dim] - 1) * strides[dim];
  flipped.strides[dim] = -strides[dim];
  return flipped;
}

View View::repeat(size_t dim, int64_t size) const {
  View repeated = *this;
  repeated.sizes[dim] = size;
  repeated.strides[dim] = 0;
  return repeated;
}

View View::insert(size_t dim, int64_t size, int64_t stride) const {
  View larger = *this;
  larger.sizes.push_back(0);
  larger.strides.push_back(0);
  for (size_t i = rank(); i > dim; --i) {
    larger.sizes[i] = larger.sizes[i - 1];
    larger.strides[i] = larger.strides[i - 1];
  }
  larger.sizes[dim] = size;
  larger.strides[dim] = stride;
  return larger;
}

View View::erase(size_t dim) const {
  View smaller = *this;
  for (size_t i = dim + 1; i < rank(); ++i) {
    smaller.sizes[i - 1] = smaller.sizes[i];
    smaller.strides[i - 1] = smaller.strides[i];
  }
  smaller.sizes.pop_back();
  smaller.strides.pop_back();
  return smaller;
}

View View::expand(const Dims& to) const {
  View seen = *this;
  while (seen.rank() < to.size()) seen = seen.insert(0, 1, 0);
  for (size_t i = 0; i < to.size(); ++i) {
    if (seen.sizes[i] == to[i]) continue;
    seen.sizes[i] = to[i];
    seen.strides[i] = 0;
  }
  return seen;
}

Walk<1> walk_of(const View& view) {
  Walk<1> walk;
  for (size_t i = 0; i < view.rank(); ++i) walk.add(view.sizes[i], {view.strides[i]});
  walk.join();
  return walk;
}

Status view_of(const aclTensor& tensor, const char* role, View* out) {
  if (!is_known(tensor.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, ": no operator computes with data type ", static_cast<int>(tensor.dtype))};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data = static_cast<char*>(data);
  out->dtype = tensor.dtype;
  out->sizes = tensor.dims;
  out->strides = tensor.strides;
  for (int64_t& stride : out->strides) stride *= out->element();
  return Status::ok();
}

Status wrap_dim(int64_t dim, size_t rank, size_t* out) {
  const int64_t dims = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (dim < -dims || dim >= dims) {
    return {ACLNN_ERR_PARAM_INVALID, text("dimension ", dim, " does not exist: it is from ", -dims, " to ", dims - 1)};
  }
  *out = static_cast<size_t>(dim < 0 ? dim + dims : dim);
  return Status::ok();
}

Status same_dtype(const aclTensor& a, const aclTensor& b) {
  if (a.dtype == b.dtype) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(describe(a), " and ", describe(b), " differ in data type; they must not")};
}

Status require_sizes(const aclTensor& tensor, const Dims& sizes, const char* role) {
  if (tensor.dims == sizes) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text(role, " has the shape ", describe_shape(tensor.dims), " where ", describe_shape(sizes), " is needed")};
}

Status require_index(const aclTensor& index, const char* role) {
  if (index.dtype == ACL_INT64 || index.dtype == ACL_INT32) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(index), "; it holds int32 or int64")};
}

bool broadcasts_to(const Dims& sizes, const Dims& to) {
  if (sizes.size() > to.size()) return false;
  const size_t missing = to.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && sizes[i] != to[missing + i]) return false;
  }
  return true;
}

}  // namespace softnpu
