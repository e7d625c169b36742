#pragma once
// Launches of one plan, any number of times, without an executor.

#include <memory>

#include "acl/acl_base.h"
#include "nnopbase/launch_template.h"

namespace softnpu {

// Each launch allocates its workspace in host memory.
ACL_FUNC_VISIBILITY Status launch_planned(std::shared_ptr<const LaunchTemplate> planned, aclrtStream stream);

}  // namespace softnpu
