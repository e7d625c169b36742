#pragma once
// Whether loops over the same memory give the same bytes fused as one after the other.

#include <cstddef>
#include <span>

#include "acl/acl_base.h"
#include "fusion/elementwise_loop.h"

namespace softnpu {

// How many of the first loops may be fused: they have equal counts, and where one writes memory that another touches
// both access it by the same elements. At least one.
ACL_FUNC_VISIBILITY size_t count_fusible_loops(std::span<const ElementwiseLoop* const> loops);

}  // namespace softnpu
