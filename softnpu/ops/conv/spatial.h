#pragma once
// Attributes with a number for each spatial dimension.

#include <cstddef>
#include <cstdint>

#include "nnopbase/arrays.h"
#include "ops/conv/problem.h"

namespace softnpu {

// One number for all `dims` dimensions, or one each, into the last of `out`; all others, and null, are `fallback`.
// Fails where one is below `least`.
Status read_spatial(const aclIntArray* values, const char* name, size_t dims, int64_t least, int64_t fallback,
                    Triple* out);

}  // namespace softnpu
