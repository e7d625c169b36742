#pragma once

#include "base/checked.h"
#include "base/text.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// The limit for lists of windows, taps and work items that planners make in host memory, some tens of bytes each. Only
// strides of 0 and tensors without elements need more; that is an error before memory is exhausted.
constexpr int64_t kMaxListed = int64_t{1} << 30;

inline Status check_listed(Checked count, const char* what) {
  if (count.fits() && count.value() <= kMaxListed) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("more than ", kMaxListed, " ", what, " are not planned")};
}

}  // namespace softnpu
