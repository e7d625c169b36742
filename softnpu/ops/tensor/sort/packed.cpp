#include "ops/tensor/sort/packed.h"

#include "ops/core/dtype.h"

namespace softnpu {

bool has_short_keys(aclDataType dtype) {
  const ComputeType compute_type = compute_type_of(dtype);
  return compute_type == ComputeType::kF32 || compute_type == ComputeType::kI32;
}

uint64_t nan_key(aclDataType dtype) {
  if (!is_floating(dtype)) return 0;
  return dtype == ACL_DOUBLE ? UINT64_MAX : uint64_t{UINT32_MAX};
}

}  // namespace softnpu
