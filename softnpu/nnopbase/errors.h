#pragma once
// Statuses of aclnn functions beside those of the public header.

#include "aclnn/aclnn_base.h"

namespace softnpu {

inline constexpr aclnnStatus kLaunchError = 361001;    // the runtime refused the task
inline constexpr aclnnStatus kOperatorError = 561000;  // an operator's work failed

}  // namespace softnpu
