#include "runtime/memory/address.h"

#include "base/text.h"

namespace softnpu {

Status resolve(const Process& process, const char* role, const void* address, size_t count, Location* out) {
  auto* byte = const_cast<char*>(static_cast<const char*>(address));
  Device* device = process.device_of(address);
  if (device == nullptr) {
    *out = {byte, false};
    return Status::ok();
  }
  Allocation allocation;
  if (!device->find(address, &allocation)) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            text(role, " ", address, " lies in the memory of device ", device->id(), " but in no live allocation")};
  }
  if (!allocation.holds(address, count)) {
    return {ACL_ERROR_RT_PARAM_INVALID, text(role, " runs past its allocation: ", count, " bytes at byte ",
                                             allocation.offset_of(address), " of ", allocation.size)};
  }
  *out = {byte + device->region().kernel_offset(), true};
  return Status::ok();
}

}  // namespace softnpu
