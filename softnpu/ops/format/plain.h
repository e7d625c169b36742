#pragma once
// What the sizes of a tensor without blocks stand for, and the tensor in another order of them.

#include <string_view>

#include "ops/format/layout.h"
#include "ops/iterate/view.h"

namespace softnpu {

// A letter for each size: those of the format where it has an order of its own (NHWC, HWCN, NDHWC), else by their
// number: C, CH, CHW, NCHW, NCDHW, as the plug-in gives tensors formats; ACL_FORMAT_ND takes any number. Fails where
// the format cannot have these sizes, and for formats with blocks.
Status letters_of(aclFormat format, size_t rank, std::string_view* out);

// Dimension i of the result is dimension `order[i]` of the tensor; kMissing is a size of 1.
constexpr size_t kMissing = ~size_t{0};
using DimOrder = SmallVector<size_t, 8>;

// The order of the sizes that `format` is laid out for, in a tensor without blocks.
Status dim_order_for(const BlockFormat& format, aclFormat plain, size_t rank, DimOrder* out);
// The order of the sizes of a tensor in the format `to`, in one in `from`, both without blocks.
Status dim_order_between(aclFormat from, aclFormat to, size_t rank, DimOrder* out);

Dims arranged(const Dims& sizes, const DimOrder& order);
View arranged(const View& view, const DimOrder& order);

}  // namespace softnpu
