#pragma once
// How the operators of operators.txt are planned.

#include "nnopbase/tensor.h"
#include "ops/format/layout.h"

namespace softnpu {

struct Plan;

// dst = src in another format. A tensor in a format with blocks is given whole, with its sizes in memory; its `dims`
// are those of the other tensor, or the same sizes in the order NCHW or NCDHW. Memory that no element lies in becomes
// zero. FRACTAL_NZ has the C0 that its sizes in memory end with.
Status format_cast(const aclTensor& src, aclTensor& dst, Plan* plan);

// The sizes in memory of what becomes of `src` in `format`; `block` is FRACTAL_NZ's C0.
Status sizes_in_format(const aclTensor& src, aclFormat format, int64_t block, Dims* out);

}  // namespace softnpu
