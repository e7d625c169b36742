#include "ops/core/tensor_memory.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "base/small_vector.h"
#include "base/text.h"
#include "nnopbase/format.h"
#include "nnopbase/missing_memory.h"
#include "nnopbase/written.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

bool on_host(const void* address) {
  aclrtPtrAttributes attributes{};
  return aclrtPointerGetAttributes(address, &attributes) == ACL_SUCCESS &&
         attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

Status tensor_memory(const aclTensor& tensor, const char* role, void** out) {
  *out = nullptr;
  if (element_count(tensor) == 0) return Status::ok();
  if (is_blocked_format(tensor.format)) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is in the format ", static_cast<int>(tensor.format),
                                          ", whose blocks this operator does not know: cast it to ND")};
  }
  for (int64_t stride : tensor.strides) {
    if (stride < 0) return {ACLNN_ERR_PARAM_INVALID, text(role, " has the negative stride ", stride)};
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor.data, role));
  const auto [first, bytes] = device_bytes(tensor);
  if (!find_device_memory(first, bytes, out)) {
    *out = nullptr;
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " at ", first, " does not lie in one allocation of device memory with all of its ",
                 extent(tensor), " elements", on_host(first) ? ": it is memory of the host, copy it first" : "")};
  }
  return Status::ok();
}

bool is_dense(const aclTensor& tensor) {
  if (element_count(tensor) == 0) return true;
  struct Step {
    int64_t stride;
    int64_t size;
  };
  SmallVector<Step, 8> order;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] != 1) order.push_back({tensor.strides[i], tensor.dims[i]});
  }
  std::ranges::sort(order, {}, &Step::stride);
  int64_t next = 1;
  for (const auto& [stride, size] : order) {
    if (stride != next) return false;
    next *= size;
  }
  return true;
}

}  // namespace softnpu
