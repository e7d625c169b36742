#pragma once
// The one answer of functions that are not there yet.

#include "base/border.h"

namespace softnpu {

// Such a function reads no argument and writes none. `sentence` says what is missing and what to do instead.
inline aclError unsupported(const char* function, const char* sentence) noexcept {
  return api(function, [&] { return Status(ACL_ERROR_FEATURE_UNSUPPORTED, sentence); });
}

}  // namespace softnpu
