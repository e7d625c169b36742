#pragma once
// The part of the OpenMP ABI that oneDNN needs, implemented on softnpu's workers (openmp.cpp).

#include "acl/acl_base.h"

namespace softnpu {

// Sets how many threads oneDNN's next regions on the calling thread have (initially 1). Returns the previous number.
ACL_FUNC_VISIBILITY int exchange_openmp_threads(int threads) noexcept;

}  // namespace softnpu
