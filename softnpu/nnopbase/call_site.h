#pragma once

#include "nnopbase/plan.h"

namespace softnpu {

// `describe`, followed by the line of the program that softnpuSetCallSite gave, if any. For operators that find errors
// in their data.
ACL_FUNC_VISIBILITY Describe with_call_site(Describe describe);

}  // namespace softnpu
