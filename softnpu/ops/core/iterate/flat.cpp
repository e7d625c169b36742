#include "ops/core/iterate/flat.h"

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {

Status FlatTensor::make(const aclTensor& tensor, int64_t last, const char* role, FlatTensor* out) {
  if (!is_known(tensor.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("no operator computes with data type ", static_cast<int>(tensor.dtype), ", that of ", role)};
  }
  if (last >= static_cast<int64_t>(tensor.dims.size())) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), ", which has no dimension ", last)};
  }
  void* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &memory));
  out->data_ = static_cast<char*>(memory);
  out->dtype_ = tensor.dtype;
  out->sizes_.clear();
  out->strides_.clear();
  const auto size = static_cast<ptrdiff_t>(aclDataTypeSize(tensor.dtype));
  out->element_ = size;
  const auto add = [&](size_t i) {
    if (tensor.dims[i] == 1) return;
    const ptrdiff_t stride = tensor.strides[i] * size;
    if (!out->sizes_.empty() && out->strides_.back() == stride * tensor.dims[i]) {
      out->sizes_.back() *= tensor.dims[i];
      out->strides_.back() = stride;
    } else {
      out->sizes_.push_back(tensor.dims[i]);
      out->strides_.push_back(stride);
    }
  };
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (static_cast<int64_t>(i) != last) add(i);
  }
  if (last >= 0) add(static_cast<size_t>(last));
  if (out->sizes_.empty()) {
    out->sizes_.push_back(1);
    out->strides_.push_back(size);
  }
  return Status::ok();
}

}  // namespace softnpu
