#include "nnopbase/tensor.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/objects.h"
#include "softnpu/tensor.h"

using softnpu::api;
using softnpu::Dims;
using softnpu::not_null;
using softnpu::Status;
using softnpu::tensors;
using softnpu::text;

namespace {

constexpr uint64_t kMaxDims = 64;

// The arguments of aclCreateTensor and softnpuInitTensor.
struct Description {
  const int64_t* dims;
  uint64_t count;
  aclDataType dtype;
  const int64_t* strides;
  int64_t offset;
  aclFormat format;
  const int64_t* storage_dims;
  uint64_t storage_count;
  void* data;
};

// ACL_INT4 elements are two a byte, the lower half first: a byte each is an upper bound. Only operators that name the
// type take it.
size_t most_element_bytes(aclDataType dtype) { return dtype == ACL_INT4 ? 1 : aclDataTypeSize(dtype); }

// Describes what is wrong with invalid sizes. Separate from the check, which every descriptor runs.
[[gnu::cold]] Status wrong_dims(const char* what, const int64_t* dims, uint64_t count) {
  if (count > kMaxDims) return {ACLNN_ERR_PARAM_INVALID, text(count, " ", what, "; at most ", kMaxDims, " are taken")};
  SOFTNPU_RETURN_IF_ERROR(not_null(dims, what));
  const int64_t negative = *std::find_if(dims, dims + count, [](int64_t size) { return size < 0; });
  return {ACLNN_ERR_PARAM_INVALID, text(what, " hold the negative size ", negative)};
}

bool are_dims(const int64_t* dims, uint64_t count) {
  if (count > kMaxDims || (count > 0 && dims == nullptr)) return false;
  return std::all_of(dims, dims + count, [](int64_t size) { return size >= 0; });
}

[[gnu::cold]] Status wrong(const Description& from) {
  if (!are_dims(from.dims, from.count)) return wrong_dims("view dimensions", from.dims, from.count);
  if (!are_dims(from.storage_dims, from.storage_count)) {
    return wrong_dims("storage dimensions", from.storage_dims, from.storage_count);
  }
  if (most_element_bytes(from.dtype) == 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("data type ", static_cast<int>(from.dtype), " is not supported")};
  }
  if (from.offset < 0) return {ACLNN_ERR_PARAM_INVALID, text("the view's offset ", from.offset, " is negative")};
  return {ACLNN_ERR_PARAM_INVALID, "the view's sizes, strides and offset reach beyond 2^63 bytes"};
}

Status check(const Description& from) {
  const auto element_bytes = static_cast<int64_t>(most_element_bytes(from.dtype));
  const bool is_right = are_dims(from.dims, from.count) && are_dims(from.storage_dims, from.storage_count) &&
                        element_bytes != 0 && from.offset >= 0 &&
                        softnpu::has_extent(from.dims, from.strides, from.count, from.offset, element_bytes);
  return is_right ? Status::ok() : wrong(from);
}

// Without elements the strides may wrap around: they are not used.
void set_contiguous(const Dims& dims, Dims* strides) {
  strides->resize(dims.size());
  uint64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    (*strides)[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[i]);
  }
}

// `from` is checked. If memory is exhausted, `out` is unchanged.
void describe(const Description& from, aclTensor* out) {
  out->dims.reserve(from.count);
  out->strides.reserve(from.count);
  out->storage_dims.reserve(from.storage_count);
  out->dims.assign(from.dims, from.dims + from.count);
  out->storage_dims.assign(from.storage_dims, from.storage_dims + from.storage_count);
  if (from.strides == nullptr) {
    set_contiguous(out->dims, &out->strides);
  } else {
    out->strides.assign(from.strides, from.strides + from.count);
  }
  out->offset = from.offset;
  out->dtype = from.dtype;
  out->format = from.format;
  out->data = from.data;
  if (out->shape != nullptr) out->shape.reset();
}

// Returns a copy that the caller frees with delete[].
void hand_out(const Dims& dims, int64_t** out, uint64_t* count) {
  auto copy = std::make_unique<int64_t[]>(dims.size());
  std::copy(dims.begin(), dims.end(), copy.get());
  *count = dims.size();
  *out = copy.release();
}

aclnnStatus describe_anew(const char* function, const Description& from, aclTensor* tensor) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_object(tensors(), tensor, "aclTensor"));
    SOFTNPU_RETURN_IF_ERROR(check(from));
    describe(from, tensor);
    return Status::ok();
  });
}

aclnnStatus get_dims(const char* function, const aclTensor* tensor, Dims aclTensor::*dims, int64_t** values,
                     uint64_t* count) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_object(tensors(), tensor, "aclTensor"));
    SOFTNPU_RETURN_IF_ERROR(not_null(values, "the pointer to the numbers"));
    SOFTNPU_RETURN_IF_ERROR(not_null(count, "the pointer to their count"));
    hand_out(tensor->*dims, values, count);
    return Status::ok();
  });
}

template <typename T>
aclnnStatus get_field(const char* function, const aclTensor* tensor, T aclTensor::*field, T* value) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_object(tensors(), tensor, "aclTensor"));
    SOFTNPU_RETURN_IF_ERROR(not_null(value, "the pointer to the result"));
    *value = tensor->*field;
    return Status::ok();
  });
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                           int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                           void* tensorData) {
  aclTensor* result = nullptr;
  (void)api("aclCreateTensor", [&] {
    const Description from{viewDims, viewDimsNum, dataType,       stride,    offset,
                           format,   storageDims, storageDimsNum, tensorData};
    SOFTNPU_RETURN_IF_ERROR(check(from));
    aclTensor* tensor = tensors().make();
    try {
      describe(from, tensor);
    } catch (...) {
      tensors().destroy(tensor);
      throw;
    }
    result = tensor;
    return Status::ok();
  });
  return result;
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return api("aclDestroyTensor", [&] { return softnpu::destroy_object(tensors(), tensor, "aclTensor"); });
}

aclnnStatus softnpuInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                              const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                              uint64_t storageDimsNum, void* tensorData) {
  const Description from{viewDims, viewDimsNum, dataType,       stride,    offset,
                         format,   storageDims, storageDimsNum, tensorData};
  return describe_anew("softnpuInitTensor", from, tensor);
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                          const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                          uint64_t storageDimsNum, void* tensorDataAddr) {
  const Description from{viewDims, viewDimsNum, dataType,       stride,        offset,
                         format,   storageDims, storageDimsNum, tensorDataAddr};
  return describe_anew("aclInitTensor", from, tensor);
}

aclnnStatus aclUpdateTensorAddr(aclTensor* tensor, void* tensorDataAddr) {
  return api("aclUpdateTensorAddr", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_object(tensors(), tensor, "aclTensor"));
    tensor->data = tensorDataAddr;
    return Status::ok();
  });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return api("aclGetViewShape", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_object(tensors(), tensor, "aclTensor"));
    SOFTNPU_RETURN_IF_ERROR(not_null(viewDims, "viewDims"));
    SOFTNPU_RETURN_IF_ERROR(not_null(viewDimsNum, "viewDimsNum"));
    Dims decided;
    const bool is_decided = tensor->shape != nullptr && tensor->shape->get(&decided);
    hand_out(is_decided ? decided : tensor->dims, viewDims, viewDimsNum);
    return Status::ok();
  });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  return get_dims("aclGetStorageShape", tensor, &aclTensor::storage_dims, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  return get_dims("aclGetViewStrides", tensor, &aclTensor::strides, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return get_field("aclGetViewOffset", tensor, &aclTensor::offset, offset);
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return get_field("aclGetFormat", tensor, &aclTensor::format, format);
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return get_field("aclGetDataType", tensor, &aclTensor::dtype, dataType);
}
