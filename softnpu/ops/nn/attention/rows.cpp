#include "ops/nn/attention/rows.h"

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {

Status TensorRows::make(const aclTensor& tensor, const char* role, std::span<const int64_t> dims, aclDataType as,
                        TensorRows* out) {
  const size_t n = dims.size();
  const size_t own = tensor.dims.size();
  Status bad = {ACLNN_ERR_PARAM_INVALID,
                text(role, " is ", describe(tensor), ", which is not broadcast to ", describe_shape(dims))};
  if (!is_known(tensor.dtype) || own == 0 || own > n || tensor.dims.back() != dims.back()) return bad;
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  for (size_t i = 0; i + 1 < n; ++i) {
    const bool is_missing = i < n - own;
    const int64_t dim = is_missing ? 1 : tensor.dims[i - (n - own)];
    if (dim != 1 && dim != dims[i]) return bad;
    out->outer_.push_back(dims[i]);
    out->strides_.push_back(dim == 1 ? 0 : tensor.strides[i - (n - own)] * size);
    out->own_strides_.push_back(dim == 1 ? 0 : 1);
  }
  for (size_t i = out->outer_.size(); i-- > 0;) {
    if (out->own_strides_[i] == 0) continue;
    out->own_strides_[i] = out->own_count_;
    out->own_count_ *= out->outer_[i];
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data_ = static_cast<char*>(data);
  out->reader_ = ElementReader(tensor.dtype, as);
  out->writer_ = ElementWriter(as, tensor.dtype);
  out->stride_ = tensor.strides.back() * size;
  out->length_ = static_cast<size_t>(tensor.dims.back());
  return Status::ok();
}

}  // namespace softnpu
