// Peer access. All device memory is host memory, so that devices always reach each other: nothing needs enabling.

#include "acl/rt/device.h"
#include "ascendcl/api.h"

using softnpu::api;
using softnpu::check_device;
using softnpu::Device;
using softnpu::require;
using softnpu::Status;

namespace {

Status check_peer(int32_t peer) {
  Device* device = nullptr;
  SOFTNPU_RETURN_IF_ERROR(softnpu::current_device(&device));
  SOFTNPU_RETURN_IF_ERROR(check_device(peer));
  if (peer != device->id()) return Status::ok();
  return {ACL_ERROR_RT_INVALID_DEVICEID, softnpu::text("device ", peer, " is the current one, not a peer of it")};
}

}  // namespace

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return api("aclrtDeviceCanAccessPeer", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(canAccessPeer, "canAccessPeer"));
    SOFTNPU_RETURN_IF_ERROR(check_device(deviceId));
    SOFTNPU_RETURN_IF_ERROR(check_device(peerDeviceId));
    *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
    return Status::ok();
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return api("aclrtDeviceEnablePeerAccess", [&]() -> Status {
    if (flags != 0)
      return {ACL_ERROR_INVALID_PARAM, softnpu::text("peer access with the flags ", flags, ": they are 0")};
    return check_peer(peerDeviceId);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return api("aclrtDeviceDisablePeerAccess", [&] { return check_peer(peerDeviceId); });
}
