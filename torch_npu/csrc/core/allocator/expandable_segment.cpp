#include "core/allocator/expandable_segment.h"

#include "core/acl.h"
#include "core/allocator/round.h"

namespace torch_npu {
namespace {

// The flag that torch_npu passes for huge pages.
constexpr uint64_t kHugePages = 1;

}  // namespace

std::unique_ptr<ExpandableSegment> ExpandableSegment::reserve(c10::DeviceIndex device, std::size_t size,
                                                              std::size_t unit) {
  size = round_up(size, unit);
  void* address = nullptr;
  const aclError code = aclrtReserveMemAddress(&address, size, 0, nullptr, kHugePages);
  if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) return nullptr;
  acl_check(code, "aclrtReserveMemAddress");
  // Not make_unique: the constructor is private, so that every segment has its addresses.
  return std::unique_ptr<ExpandableSegment>(new ExpandableSegment(device, size, unit, address));
}

ExpandableSegment::~ExpandableSegment() {
  unmap(base_, size_);
  acl_warn(aclrtReleaseMemAddress(base_), "aclrtReleaseMemAddress");
}

bool ExpandableSegment::map(char* address, std::size_t size) {
  aclrtPhysicalMemProp properties{};
  properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location = {static_cast<uint32_t>(device_), ACL_MEM_LOCATION_TYPE_DEVICE};
  for (char* at = address; at < address + size; at += unit_) {
    aclrtDrvMemHandle memory = nullptr;
    aclError code = aclrtMallocPhysical(&memory, unit_, &properties, 0);
    if (code == ACL_SUCCESS) {
      code = aclrtMapMem(at, unit_, 0, memory, 0);
      if (code != ACL_SUCCESS) acl_warn(aclrtFreePhysical(memory), "aclrtFreePhysical");
    }
    if (code != ACL_SUCCESS) {
      unmap(address, static_cast<std::size_t>(at - address));
      if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) return false;
      acl_check(code, "aclrtMapMem");
    }
    units_.emplace(at, memory);
  }
  return true;
}

void ExpandableSegment::unmap(char* address, std::size_t size) noexcept {
  auto it = units_.lower_bound(address);
  while (it != units_.end() && it->first < address + size) {
    acl_warn(aclrtUnmapMem(it->first), "aclrtUnmapMem");
    acl_warn(aclrtFreePhysical(it->second), "aclrtFreePhysical");
    it = units_.erase(it);
  }
}

}  // namespace torch_npu
