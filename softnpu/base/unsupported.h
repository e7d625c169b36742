#pragma once
// The result of functions that are not implemented.

#include "base/border.h"

namespace softnpu {

// Such a function reads no arguments and writes none. `sentence` says what is missing and what to do instead.
inline aclError unsupported(const char* function, const char* sentence) noexcept {
  return api(function, [&] { return Status(ACL_ERROR_FEATURE_UNSUPPORTED, sentence); });
}

}  // namespace softnpu
