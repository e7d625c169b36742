// aclTensor and aclScalar: made, checked, destroyed.

#include "aclnn/acl_meta.h"

#include <cstring>
#include <limits>
#include <memory>

#include "base/border.h"
#include "base/text.h"
#include "nnopbase/tensor.h"

using softnpu::api;
using softnpu::not_null;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr uint64_t kMaxDims = 64;

Status read_dims(const char* what, const int64_t* dims, uint64_t count, std::vector<int64_t>* out) {
  if (count > kMaxDims) return {ACLNN_ERR_PARAM_INVALID, text(count, " ", what, "; at most ", kMaxDims, " are taken")};
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(not_null(dims, what));
  out->assign(dims, dims + count);
  for (int64_t size : *out) {
    if (size < 0) return {ACLNN_ERR_PARAM_INVALID, text(what, " hold the negative size ", size)};
  }
  return Status::ok();
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Status read_tensor(const int64_t* dims, uint64_t count, aclDataType dtype, const int64_t* strides, int64_t offset,
                   aclFormat format, const int64_t* storage_dims, uint64_t storage_count, void* data, aclTensor* out) {
  SOFTNPU_RETURN_IF_ERROR(read_dims("view dimensions", dims, count, &out->dims));
  SOFTNPU_RETURN_IF_ERROR(read_dims("storage dimensions", storage_dims, storage_count, &out->storage_dims));
  if (strides == nullptr) {
    out->strides = contiguous_strides(out->dims);
  } else {
    out->strides.assign(strides, strides + count);
  }
  if (aclDataTypeSize(dtype) == 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("data type ", static_cast<int>(dtype), " is not supported")};
  }
  if (offset < 0) return {ACLNN_ERR_PARAM_INVALID, text("the view's offset ", offset, " is negative")};
  out->offset = offset;
  out->dtype = dtype;
  out->format = format;
  out->data = data;
  return Status::ok();
}

template <typename T>
void read_as(const void* value, aclScalar* out) {
  T number;
  std::memcpy(&number, value, sizeof number);
  out->value = static_cast<double>(number);
  if constexpr (std::numeric_limits<T>::is_integer) out->integer = static_cast<int64_t>(number);
}

Status read_scalar(const void* value, aclDataType dtype, aclScalar* out) {
  SOFTNPU_RETURN_IF_ERROR(not_null(value, "value"));
  out->dtype = dtype;
  switch (dtype) {
    case ACL_FLOAT: read_as<float>(value, out); return Status::ok();
    case ACL_DOUBLE: read_as<double>(value, out); return Status::ok();
    case ACL_BOOL: read_as<bool>(value, out); return Status::ok();
    case ACL_INT8: read_as<int8_t>(value, out); return Status::ok();
    case ACL_INT16: read_as<int16_t>(value, out); return Status::ok();
    case ACL_INT32: read_as<int32_t>(value, out); return Status::ok();
    case ACL_INT64: read_as<int64_t>(value, out); return Status::ok();
    case ACL_UINT8: read_as<uint8_t>(value, out); return Status::ok();
    case ACL_UINT16: read_as<uint16_t>(value, out); return Status::ok();
    case ACL_UINT32: read_as<uint32_t>(value, out); return Status::ok();
    case ACL_UINT64: read_as<uint64_t>(value, out); return Status::ok();
    default: return {ACLNN_ERR_PARAM_INVALID, text("a scalar of data type ", static_cast<int>(dtype))};
  }
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                           void* tensorData) {
  aclTensor* made = nullptr;
  (void)api("aclCreateTensor", [&] {
    auto tensor = std::make_unique<aclTensor>();
    SOFTNPU_RETURN_IF_ERROR(read_tensor(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
                                        storageDimsNum, tensorData, tensor.get()));
    made = tensor.release();
    return Status::ok();
  });
  return made;
}

// Null is taken, as free() takes it: an optional tensor that was never made.
aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  std::unique_ptr<const aclTensor> owned(tensor);
  return ACLNN_SUCCESS;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* made = nullptr;
  (void)api("aclCreateScalar", [&] {
    auto scalar = std::make_unique<aclScalar>();
    SOFTNPU_RETURN_IF_ERROR(read_scalar(value, dataType, scalar.get()));
    made = scalar.release();
    return Status::ok();
  });
  return made;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  std::unique_ptr<const aclScalar> owned(scalar);
  return ACLNN_SUCCESS;
}
