#include "nnopbase/written.h"

#include "nnopbase/format.h"

namespace softnpu {

void add_written(const aclTensor* out, Plan* plan) {
  if (out == nullptr || out->data == nullptr) return;
  const size_t size = aclDataTypeSize(out->dtype);
  int64_t first = 0;
  int64_t count = 1;
  if (!has_blocks(out->format)) {
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
