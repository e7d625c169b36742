#include "nnopbase/written.h"

#include "nnopbase/format.h"

namespace softnpu {

void add_written(const aclTensor* out, Plan* plan) {
  if (out == nullptr || out->data == nullptr) return;
  DeviceBytes bytes = device_bytes(*out);
  if (has_blocks(out->format)) {
    bytes = {out->data, aclDataTypeSize(out->dtype)};
    for (int64_t held : out->storage_dims) bytes.bytes *= static_cast<size_t>(held);
  }
  if (bytes.bytes > 0) plan->written.push_back(bytes);
}

void add_written(const aclTensorList* out, Plan* plan) {
  if (out == nullptr) return;
  for (const aclTensor* tensor : *out) add_written(tensor, plan);
}

}  // namespace softnpu
