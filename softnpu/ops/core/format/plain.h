#pragma once
// The meaning of a plain tensor's sizes, and permutations of them.

#include <string_view>

#include "ops/core/format/layout.h"
#include "ops/core/iterate/view.h"

namespace softnpu {

// A letter per size: the format's own order (NHWC, HWCN, NDHWC), else by their number C, CH, CHW, NCHW, NCDHW, as the
// plug-in assigns formats; ACL_FORMAT_ND accepts any number. Fails if the number of sizes does not match the format,
// and for blocked formats.
Status letters_of(aclFormat format, size_t rank, std::string_view* out);

// Dimension i of the result is dimension `order[i]` of the tensor; kMissing is a size of 1.
constexpr size_t kMissing = ~size_t{0};
using DimOrder = SmallVector<size_t, 8>;

// Permutes the sizes of a plain tensor to the order for which `format` is laid out.
Status dim_order_for(const BlockFormat& format, aclFormat plain, size_t rank, DimOrder* out);
// Permutes the sizes of a plain tensor in the format `from` to the order of `to`, also plain.
Status dim_order_between(aclFormat from, aclFormat to, size_t rank, DimOrder* out);

Dims arranged(const Dims& sizes, const DimOrder& order);
View arranged(const View& view, const DimOrder& order);

}  // namespace softnpu
