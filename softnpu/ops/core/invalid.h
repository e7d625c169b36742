#pragma once
// The refusal of an argument.

#include <string>
#include <utility>

#include "base/status.h"
#include "nnopbase/tensor.h"

namespace softnpu {

inline Status invalid(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

}  // namespace softnpu
