#include "core/device.h"

#include <c10/core/DeviceType.h>

#include "core/acl.h"
#include "core/special_streams.h"
#include "core/stream.h"
#include "core/sync_debug.h"
#include "core/wait.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/libs/init_npu.h"

namespace c10_npu {

c10::DeviceIndex device_count() noexcept { return torch_npu::device_count(); }

c10::DeviceIndex device_count_ensure_non_zero() {
  TORCH_CHECK(device_count() != 0, "No NPU is available: ", torch_npu::device_count_error());
  return device_count();
}

c10::DeviceIndex current_device() { return torch_npu::current_device(); }
void set_device(c10::DeviceIndex device) { torch_npu::set_device(device); }

int ExchangeDevice(int device) {
  const c10::DeviceIndex previous = current_device();
  if (device >= 0 && device != previous) set_device(static_cast<c10::DeviceIndex>(device));
  return previous;
}

int MaybeExchangeDevice(int device) {
  const c10::DeviceIndex previous = current_device();
  if (device >= 0) torch_npu::set_device_lazily(torch_npu::checked_device(static_cast<c10::DeviceIndex>(device)));
  return previous;
}

aclError GetDevice(int32_t* device) {
  if (device == nullptr) return ACL_ERROR_INVALID_PARAM;
  *device = current_device();
  return ACL_SUCCESS;
}

aclError SetDevice(c10::DeviceIndex device) {
  if (device < 0 || device >= device_count()) return ACL_ERROR_RT_INVALID_DEVICEID;
  set_device(device);
  return ACL_SUCCESS;
}

aclError MaybeSetDevice(c10::DeviceIndex device) {
  if (device < 0 || device >= device_count()) return ACL_ERROR_RT_INVALID_DEVICEID;
  torch_npu::set_device_lazily(device);
  return ACL_SUCCESS;
}

void device_synchronize() { torch_npu::wait_for_all_work(current_device()); }

void stream_synchronize(aclrtStream stream) {
  torch_npu::wait_for_stream(torch_npu::external_stream(current_device(), stream));
}

void warn_or_error_on_sync() { torch_npu::alert_of_synchronization(); }

bool hasPrimaryContext(c10::DeviceIndex device) {
  return torch_npu::is_device_initialized(torch_npu::checked_device(device));
}

}  // namespace c10_npu

namespace torch_npu {

void init_npu(const c10::Device& device) {
  TORCH_CHECK(device.is_privateuseone(), "init_npu takes an npu device, not ", device);
  set_device(device.has_index() ? device.index() : current_device());
  bind_device(current_device());
}
void init_npu(c10::DeviceIndex index) { init_npu(npu_device(index)); }
void init_npu(const std::string& device) {
  // In Python the package does so.
  if (!c10::is_privateuse1_backend_registered()) c10::register_privateuse1_backend("npu");
  init_npu(c10::Device(device));
}

void finalize_npu() {
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    if (is_device_initialized(device)) wait_for_all_work(device);
  }
  shutdown();
}

}  // namespace torch_npu

void torch::npu::synchronize(int64_t device) {
  torch_npu::wait_for_all_work(torch_npu::checked_device(static_cast<c10::DeviceIndex>(device)));
}

c10::DeviceIndex c10::npu::current_device() { return torch_npu::current_device(); }
