#pragma once
// Tensors in blocked formats seen as tensors without, for operators that need not know blocks: by them they stay in the
// format. What fills a block up is zero, and has to stay so.

#include <span>

#include "nnopbase/format.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// C0 of NC1HWC0.
constexpr int64_t kImageBlock = 16;

inline bool is_blocked_format(const aclTensor& tensor) { return is_blocked_format(tensor.format); }

// Fails where `tensors`, none of which may be null, are not in blocks of one format and the same sizes.
Status check_same_blocked_format(std::span<const aclTensor* const> tensors);

// Whether there is nothing but elements in the memory of a checked tensor in a blocked format.
bool has_full_blocks(const aclTensor& tensor);

// What a checked tensor in a blocked format is to an operator by elements: their order in memory.
aclTensor elements_in_memory_order(const aclTensor& tensor);

// Fails where `image` is not in NC1HWC0: [N, C1, H, W, 16] in memory.
Status check_nc1hwc0(const aclTensor& image, const char* role);

// What a checked image is to an operator on each channel by itself: [N * C1, 16, H, W], channels last.
aclTensor blocks_as_images(const aclTensor& image);
// The same to one on rows of channels: [N, H * W, C1, 16].
aclTensor blocks_as_rows(const aclTensor& image);

}  // namespace softnpu
