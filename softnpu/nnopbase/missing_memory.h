#pragma once
// Phase one of a call with tensors that have no memory yet. The call is planned with stand-in addresses, which no
// memory has: its workspace's size is known then. It is planned again with real ones before it is launched.

#include <cstddef>
#include <memory>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "softnpu/softnpu.h"

namespace softnpu {

// Whether the argument has elements and no address.
inline bool lacks_memory(const aclTensor* tensor) {
  return tensor != nullptr && tensor->data == nullptr && element_count(*tensor) != 0;
}
inline bool lacks_memory(const aclTensorList* list) {
  if (list == nullptr) return false;
  for (const aclTensor* tensor : *list) {
    if (lacks_memory(tensor)) return true;
  }
  return false;
}
template <typename T>
bool lacks_memory(const T&) {
  return false;
}
inline bool lacks_memory(aclTensor* tensor) { return lacks_memory(static_cast<const aclTensor*>(tensor)); }
inline bool lacks_memory(aclTensorList* list) { return lacks_memory(static_cast<const aclTensorList*>(list)); }

// Phase one of `op` for a call at `arguments`, which `keep` copies and `location` stores in an executor. The executor
// can only be made repeatable and get addresses, or be destroyed.
ACL_FUNC_VISIBILITY Status plan_without_memory(const char* op, PendingPlan::Keep keep, const void* arguments,
                                               void (*location)(void* storage, const void* arguments),
                                               uint64_t* workspace_size, aclOpExecutor** executor);

// Whether this thread plans such a call and `address` stands in for a tensor's.
ACL_FUNC_VISIBILITY bool is_stand_in(const void* address);

// Finds the address at which kernels access `bytes` of device memory; false if no allocation has them.
inline bool find_device_memory(const void* address, size_t bytes, void** kernel) {
  if (softnpuProbeAddress(address, bytes, kernel) == ACL_SUCCESS) return true;
  *kernel = is_stand_in(address) ? const_cast<void*>(address) : nullptr;
  return *kernel != nullptr;
}

}  // namespace softnpu
