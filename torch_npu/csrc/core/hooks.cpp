// PyTorch's queries of an accelerator outside of the dispatcher.

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "core/allocator/host_allocator.h"
#include "core/device.h"
#include "core/generator.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex device) const override { return is_device_initialized(device); }
  void init() const override { bind_device(current_device()); }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }

  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex previous = current_device();
    if (device >= 0 && device != previous) set_device(device);
    return previous;
  }

  // "Maybe": does not start a device that is not used yet.
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex previous = current_device();
    if (device >= 0 && device != previous && is_device_initialized(device)) set_device(device);
    return previous;
  }

  at::Device getDeviceFromPtr(void* data) const override {
    c10::DeviceIndex device = device_of_address(data);
    TORCH_CHECK(device >= 0, "the address ", data, " lies in no npu's memory");
    return {c10::DeviceType::PrivateUse1, device};
  }

  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &host_allocator(); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override { return default_generator(device); }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override { return make_generator(device); }

  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t nbytes) const override {
    resize_storage(*storage.unsafeGetStorageImpl(), nbytes);
  }
};

[[maybe_unused]] const bool hooks_registered = [] {
  static auto& hooks = *std::make_unique<Hooks>().release();  // PyTorch keeps the pointer for ever
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();

}  // namespace
}  // namespace torch_npu
