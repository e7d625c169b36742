#include "ops/sort/packed.h"

#include "ops/dtype.h"

namespace softnpu {

bool has_short_keys(aclDataType dtype) {
  const Wide wide = wide_of(dtype);
  return wide == Wide::kF32 || wide == Wide::kI32;
}

uint64_t nan_key(aclDataType dtype) {
  if (!is_floating(dtype)) return 0;
  return dtype == ACL_DOUBLE ? UINT64_MAX : uint64_t{UINT32_MAX};
}

}  // namespace softnpu
