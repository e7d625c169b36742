#include "runtime/stream/core_limits.h"

#include "base/text.h"

namespace softnpu {

Status CoreLimits::check(aclrtDevResLimitType type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return Status::ok();
  return {ACL_ERROR_RT_PARAM_INVALID,
          text("aclrtDevResLimitType ", static_cast<int>(type), " does not exist: it is 0 or 1")};
}

Status CoreLimits::set(aclrtDevResLimitType type, uint32_t value, uint32_t most) {
  SOFTNPU_RETURN_IF_ERROR(check(type));
  if (value == 0 || value > most) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("a limit of ", value, " cores: the device has 1 to ", most)};
  }
  values_.at(static_cast<size_t>(type)).store(value);
  return Status::ok();
}

void CoreLimits::reset() {
  for (auto& value : values_) value.store(0);
}

uint32_t CoreLimits::get(aclrtDevResLimitType type, uint32_t otherwise) const {
  const uint32_t value = values_.at(static_cast<size_t>(type)).load();
  return value == 0 ? otherwise : value;
}

}  // namespace softnpu
