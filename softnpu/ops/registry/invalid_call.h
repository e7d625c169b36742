#pragma once
// The refusal of an operator's argument by the compiler of operators.

#include "acl/acl_base.h"
#include "base/status.h"

namespace softnpu {

inline Status invalid_call(const char* message) { return {ACL_ERROR_INVALID_PARAM, message}; }

}  // namespace softnpu
