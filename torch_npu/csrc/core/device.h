#pragma once
// Devices: their number, the current one, and the lazy start of the runtime.

#include <c10/core/Device.h>

#include <cstddef>
#include <string>
#include <utility>

namespace torch_npu {

constexpr c10::DeviceIndex kMaxDevices = 16;

// The number of usable devices; 0 if the runtime fails, and `device_count_error` then has the reason. Initialises
// nothing.
c10::DeviceIndex device_count() noexcept;
const char* device_count_error() noexcept;

// This thread's current device; 0 until it is set.
c10::DeviceIndex current_device() noexcept;

// `device`, or the current one for -1; throws if it does not exist.
c10::DeviceIndex checked_device(c10::DeviceIndex device);

inline c10::Device npu_device(c10::DeviceIndex device) { return {c10::DeviceType::PrivateUse1, device}; }

// PyTorch's error for arguments on several devices; `op` names the operator, if it is known.
[[noreturn]] void throw_mixed_devices(c10::Device first, c10::Device second, const std::string& op = "");

// Throws if `device` does not exist. Setting a device starts the runtime.
void set_device(c10::DeviceIndex device);

// Makes `device` current without a check; the runtime is notified by the next call that needs it.
void set_device_lazily(c10::DeviceIndex device) noexcept;

// Throws if the program reset the device (aclrtResetDevice) after PyTorch began to use it.
void check_not_reset(c10::DeviceIndex device);

// Starts the runtime if necessary and binds `device` to this thread in the runtime, for ACL calls without a handle.
// Does not change current_device().
void bind_device(c10::DeviceIndex device);

// True after the runtime was started in this process.
bool is_initialized() noexcept;
// True after `device` was set up.
bool is_device_initialized(c10::DeviceIndex device) noexcept;

// True in a child forked after the runtime was started.
bool in_bad_fork() noexcept;

// Waits for all work on `device`.
void synchronize_device(c10::DeviceIndex device);

// The same for `device`, which is bound to this thread; failures of queued launches are left to the next wait.
void wait_for_device(c10::DeviceIndex device);

// Whether kernels on the host can read device memory: true on softnpu, false on a real NPU.
bool is_host_addressable() noexcept;

// The distance from a device address to the address for host kernels. Only if is_host_addressable().
std::ptrdiff_t kernel_offset(c10::DeviceIndex device) noexcept;

// First address and size of the device's memory; the device must be bound. Only if is_host_addressable().
std::pair<const void*, std::size_t> device_range(c10::DeviceIndex device) noexcept;

// The device whose memory contains the kernel address `p`; -1 if none does.
c10::DeviceIndex device_of_kernel_address(const void* p) noexcept;
// The same for a device address.
c10::DeviceIndex device_of_address(const void* p) noexcept;

// Releases the device's memory and streams to the runtime, for programs that finish using it.
void shutdown() noexcept;

}  // namespace torch_npu
