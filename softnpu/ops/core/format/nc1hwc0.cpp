#include "ops/core/format/nc1hwc0.h"

#include <initializer_list>

#include "base/text.h"
#include "ops/core/describe.h"

namespace softnpu {
namespace {

// N, C1, H, W.
struct BlockSizes {
  explicit BlockSizes(const aclTensor& image)
      : samples(image.storage_dims[0]),
        blocks(image.storage_dims[1]),
        height(image.storage_dims[2]),
        width(image.storage_dims[3]) {}
  int64_t samples, blocks, height, width;
};

int64_t count_held(const aclTensor& tensor) {
  int64_t count = 1;
  for (const int64_t size : tensor.storage_dims) count *= size;
  return count;
}

// The memory of `image` with other sizes and strides.
aclTensor seen_as(const aclTensor& image, std::initializer_list<int64_t> dims, std::initializer_list<int64_t> strides) {
  aclTensor seen;
  seen.dims.assign(dims.begin(), dims.end());
  seen.strides.assign(strides.begin(), strides.end());
  seen.dtype = image.dtype;
  seen.storage_dims = image.storage_dims;
  seen.data = image.data;
  return seen;
}

}  // namespace

Status check_nc1hwc0(const aclTensor& image, const char* role) {
  const Dims& storage_shape = image.storage_dims;
  const Dims& dims = image.dims;
  if (image.format == ACL_FORMAT_NC1HWC0 && dims.size() == 4 && storage_shape.size() == 5 && image.offset == 0 &&
      storage_shape[0] == dims[0] && storage_shape[1] == (dims[1] + kImageBlock - 1) / kImageBlock &&
      storage_shape[2] == dims[2] && storage_shape[3] == dims[3] && storage_shape[4] == kImageBlock) {
    return Status::ok();
  }
  return {ACLNN_ERR_PARAM_INVALID,
          text(role, " is ", describe(image), " with the sizes ", describe_shape(storage_shape),
               " in memory, which is no image in NC1HWC0: [N, C / 16, H, W, 16] is")};
}

Status check_same_blocked_format(std::span<const aclTensor* const> tensors) {
  const aclTensor& first = *tensors.front();
  int64_t storage_shape = 1;
  bool fits = true;
  for (const int64_t size : first.storage_dims)
    fits = fits && !__builtin_mul_overflow(storage_shape, size, &storage_shape);
  for (const aclTensor* tensor : tensors) {
    fits = fits && is_blocked_format(*tensor) && tensor->format == first.format && tensor->dims == first.dims &&
           tensor->storage_dims == first.storage_dims && tensor->offset == 0;
  }
  if (fits) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("tensors in blocked formats need one format and the same sizes: ", describe(tensors))};
}

bool has_full_blocks(const aclTensor& tensor) { return element_count(tensor) == count_held(tensor); }

aclTensor elements_in_memory_order(const aclTensor& tensor) { return seen_as(tensor, {count_held(tensor)}, {1}); }

aclTensor blocks_as_images(const aclTensor& image) {
  const BlockSizes s(image);
  const int64_t row = s.width * kImageBlock;
  return seen_as(image, {s.samples * s.blocks, kImageBlock, s.height, s.width}, {s.height * row, 1, row, kImageBlock});
}

aclTensor blocks_as_rows(const aclTensor& image) {
  const BlockSizes s(image);
  const int64_t block = s.height * s.width * kImageBlock;
  return seen_as(image, {s.samples, s.height * s.width, s.blocks, kImageBlock},
                 {s.blocks * block, kImageBlock, block, 1});
}

}  // namespace softnpu
