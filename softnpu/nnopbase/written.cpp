#include "nnopbase/written.h"

#include <algorithm>

#include "nnopbase/call_tensors.h"
#include "nnopbase/format.h"

namespace softnpu {

void add_written(const aclTensor* out, Plan* plan) {
  if (out == nullptr || out->data == nullptr || std::ranges::find(plan->unchanged, out) != plan->unchanged.end())
    return;
  softnpuRange bytes = device_bytes(*out);
  if (is_blocked_format(out->format)) {
    bytes = {out->data, aclDataTypeSize(out->dtype)};
    for (int64_t storage_shape : out->storage_dims) bytes.bytes *= static_cast<size_t>(storage_shape);
  }
  if (bytes.bytes > 0) plan->written.push_back(bytes);
  if (softnpuWatchesOverflow() != 0) collect_output(out);
}

void add_written(const aclTensorList* out, Plan* plan) {
  if (out == nullptr) return;
  for (const aclTensor* tensor : *out) add_written(tensor, plan);
}

}  // namespace softnpu
