#pragma once
// The fields of an aclTensor. Shared by libnnopbase, which creates it, and libopapi, which reads it.

#include <cstdint>
#include <memory>
#include <string>

#include "aclnn/aclnn_base.h"
#include "base/checked.h"
#include "base/status.h"
#include "nnopbase/shape.h"

struct aclTensor {
  softnpu::Dims dims;
  softnpu::Dims strides;  // in elements
  int64_t offset = 0;     // in elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  softnpu::Dims storage_dims;
  void* data = nullptr;                         // the storage's first byte, in device memory
  std::shared_ptr<softnpu::ShapeRecord> shape;  // null unless an operator determines the sizes when it runs
};

namespace softnpu {

// aclnn's own error for a missing argument.
inline Status not_null(const void* argument, const char* name) {
  if (argument != nullptr) return Status::ok();
  return {ACLNN_ERR_PARAM_NULLPTR, std::string(name) + " is null"};
}

// The number, or an error that names it by `what` if it does not fit.
inline Status fit(Checked number, const char* what, int64_t* out) {
  *out = number.value();
  if (number.fits()) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, std::string(what) + " does not fit into 64 bits"};
}

inline int64_t element_count(const aclTensor& tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.dims) count *= size;
  return count;
}

// Whether the number of elements, and each element's distance in bytes from the storage's start, fit. Null strides mean
// contiguous.
inline bool has_extent(const int64_t* dims, const int64_t* strides, size_t rank, int64_t offset,
                       int64_t element_bytes) {
  Checked count = 1;
  Checked last = checked(offset);
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) return true;
    count = count * dims[i];
    if (strides != nullptr) last = last + checked(dims[i] - 1) * strides[i];
  }
  if (strides == nullptr) last = last + count - 1;
  return (count * element_bytes).fits() && (last * element_bytes).fits();
}

// The number of elements from the first to the last in memory, inclusive; 0 without elements.
inline int64_t extent(const aclTensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] == 0) return 0;
    last += (tensor.dims[i] - 1) * tensor.strides[i];
  }
  return last + 1;
}

// For the plan of an operator that determines `out`'s sizes when it runs.
inline DynamicShape shape_of(aclTensor& out) {
  if (!out.shape) out.shape = std::make_shared<ShapeRecord>();
  return DynamicShape(out.shape);
}

}  // namespace softnpu
