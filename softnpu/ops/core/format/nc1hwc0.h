#pragma once
// Views of blocked tensors as plain ones, for operators that work on them without conversion. Padding in blocks is zero
// and must stay zero.

#include <span>

#include "nnopbase/format.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// C0 of NC1HWC0.
constexpr int64_t kImageBlock = 16;

inline bool is_blocked_format(const aclTensor& tensor) { return is_blocked_format(tensor.format); }

// Fails unless `tensors`, none of which may be null, have the same blocked format and sizes.
Status check_same_blocked_format(std::span<const aclTensor* const> tensors);

// Whether the memory of a checked blocked tensor has no padding.
bool has_full_blocks(const aclTensor& tensor);

// View of a checked blocked tensor for elementwise operators: its elements in memory order.
aclTensor elements_in_memory_order(const aclTensor& tensor);

// Fails if `image` is not in NC1HWC0: [N, C1, H, W, 16] in memory.
Status check_nc1hwc0(const aclTensor& image, const char* role);

// View of a checked image for operators on single channels: [N * C1, 16, H, W], channels last.
aclTensor blocks_as_images(const aclTensor& image);
// View for operators on rows of channels: [N, H * W, C1, 16].
aclTensor blocks_as_rows(const aclTensor& image);

}  // namespace softnpu
