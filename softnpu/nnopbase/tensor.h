#pragma once
// What an aclTensor and an aclScalar say. Shared by libnnopbase, which makes them, and libopapi, which reads them.

#include <cstdint>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "base/status.h"

struct aclTensor {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // in elements
  int64_t offset = 0;            // in elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> storage_dims;
  void* data = nullptr;  // the storage's first byte, in device memory
};

struct aclScalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  double value = 0;  // exact for every type but 64-bit integers beyond 2^53, which `integer` holds
  int64_t integer = 0;
};

namespace softnpu {

// aclnn's own word for a missing argument.
inline Status not_null(const void* argument, const char* name) {
  if (argument != nullptr) return Status::ok();
  return {ACLNN_ERR_PARAM_NULLPTR, std::string(name) + " is null"};
}

inline int64_t element_count(const aclTensor& tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.dims) count *= size;
  return count;
}

}  // namespace softnpu
