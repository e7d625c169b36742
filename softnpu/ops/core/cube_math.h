#pragma once
// cubeMathType: the argument of products and convolutions that selects the precision of float32.

#include <cstdint>

#include "base/status.h"
#include "base/text.h"

namespace softnpu {

enum class CubeMath : int8_t { kKeepDtype, kAllowLess, kFloat16, kHf32, kAddInFloat32 };

inline Status check_cube_math_type(int8_t type) {
  constexpr auto kLast = static_cast<int>(CubeMath::kAddInFloat32);
  if (type >= 0 && type <= kLast) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("cubeMathType ", static_cast<int>(type), " does not exist: it is 0 to ", kLast)};
}

// Whether it allows lower precision than float32's.
inline bool allows_less(int8_t type) {
  const auto chosen = static_cast<CubeMath>(type);
  return chosen == CubeMath::kAllowLess || chosen == CubeMath::kFloat16 || chosen == CubeMath::kHf32;
}

}  // namespace softnpu
