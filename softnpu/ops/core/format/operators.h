#pragma once
// Planners for operators.txt.

#include "nnopbase/tensor.h"
#include "ops/core/format/layout.h"

namespace softnpu {

struct Plan;

// dst = src in another format. A blocked tensor is passed as a whole, with its sizes in memory; its `dims` are those of
// the other tensor, or the same sizes in the order NCHW or NCDHW. Padding in memory becomes zero. The C0 of FRACTAL_NZ
// is the last of its sizes in memory.
Status format_cast(const aclTensor& src, aclTensor& dst, Plan* plan);

// The sizes in memory of `src` in `format`; `block` is FRACTAL_NZ's C0.
Status sizes_in_format(const aclTensor& src, aclFormat format, int64_t block, Dims* out);

}  // namespace softnpu
