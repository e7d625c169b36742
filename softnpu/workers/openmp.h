#pragma once
// The part of the OpenMP ABI that oneDNN is compiled for, on softnpu's workers (openmp.cpp).

#include "acl/acl_base.h"

namespace softnpu {

// How many threads oneDNN's next regions on the calling thread have (1 at first); returns how many they had.
ACL_FUNC_VISIBILITY int exchange_openmp_threads(int threads) noexcept;

}  // namespace softnpu
