#include "graph/session/shared_constants.h"

#include "acl/acl.h"

namespace softnpu::graph {

Status SharedConstants::find(const Bytes& bytes, std::shared_ptr<DeviceMemory>* out) {
  std::lock_guard lock(mutex_);
  std::weak_ptr<DeviceMemory>& known = constants_[{bytes.data, bytes.size}];
  *out = known.lock();
  if (*out != nullptr) return Status::ok();
  auto result = std::make_shared<DeviceMemory>();
  SOFTNPU_RETURN_IF_ERROR(result->allocate(bytes.size));
  SOFTNPU_RETURN_IF_ERROR(
      status_of(aclrtMemcpy(result->data(), bytes.size, bytes.data, bytes.size, ACL_MEMCPY_HOST_TO_DEVICE)));
  known = result;
  *out = std::move(result);
  return Status::ok();
}

void SharedConstants::prune() {
  std::lock_guard lock(mutex_);
  std::erase_if(constants_, [](const auto& one) { return one.second.expired(); });
}

}  // namespace softnpu::graph
