#include "nnopbase/written.h"

namespace softnpu {
namespace {

// Formats whose elements lie by their strides; the others fill the storage with blocks.
bool has_strides(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NCL: return true;
    default: return false;
  }
}

}  // namespace

void add_written(const aclTensor* out, Plan* plan) {
  if (out == nullptr || out->data == nullptr) return;
  const size_t size = aclDataTypeSize(out->dtype);
  int64_t first = 0;
  int64_t count = 1;
  if (has_strides(out->format)) {
    first = out->offset;
    count = extent(*out);
  } else {
    for (int64_t held : out->storage_dims) count *= held;
  }
  if (count <= 0) return;
  plan->written.push_back(
      {static_cast<const char*>(out->data) + static_cast<size_t>(first) * size, static_cast<size_t>(count) * size});
}

void add_written(const aclTensorList* out, Plan* plan) {
  if (out == nullptr) return;
  for (const aclTensor* tensor : *out) add_written(tensor, plan);
}

}  // namespace softnpu
