#pragma once
// Devices: how many, which is current, and the runtime's lazy start.

#include <c10/core/Device.h>

#include <cstddef>
#include <string>
#include <utility>

namespace torch_npu {

constexpr c10::DeviceIndex kMaxDevices = 16;

// Devices that can be used; 0 where the runtime refuses, and `device_count_error` then says why. Initialises nothing.
c10::DeviceIndex device_count() noexcept;
const char* device_count_error() noexcept;

// This thread's current device; 0 until it is set.
c10::DeviceIndex current_device() noexcept;

// `device`, or the current one for -1; throws where it does not exist.
c10::DeviceIndex checked_device(c10::DeviceIndex device);

inline c10::Device npu_device(c10::DeviceIndex device) { return {c10::DeviceType::PrivateUse1, device}; }

// PyTorch's error for arguments on several devices; `op` names whose arguments, where that is known.
[[noreturn]] void throw_mixed_devices(c10::Device first, c10::Device second, const std::string& op = "");

// Throws where `device` does not exist. Setting a device starts the runtime.
void set_device(c10::DeviceIndex device);

// Makes `device` current without checking it; the runtime hears of it with the next call that needs it.
void set_device_lazily(c10::DeviceIndex device) noexcept;

// Throws where a program reset the device (aclrtResetDevice) after PyTorch began to use it.
void check_not_reset(c10::DeviceIndex device);

// Starts the runtime where needed and makes `device` the runtime's device on this thread, as ACL calls that take no
// handle require. Leaves current_device() as it is.
void bind_device(c10::DeviceIndex device);

// True once the runtime runs in this process.
bool is_initialized() noexcept;
// True once `device` was set up.
bool is_device_initialized(c10::DeviceIndex device) noexcept;

// True in a child made by fork after the runtime was started.
bool in_bad_fork() noexcept;

// Waits for all work on `device`.
void synchronize_device(c10::DeviceIndex device);

// The same for `device`, which this thread has bound; failed launches of the queue are left to the next wait.
void wait_for_device(c10::DeviceIndex device);

// Whether kernels on the host can read device memory: true on softnpu, false on a real NPU.
bool is_host_addressable() noexcept;

// Bytes from a device address to the address where the host's kernels see it. Only where is_host_addressable().
std::ptrdiff_t kernel_offset(c10::DeviceIndex device) noexcept;

// First address and size of the device's memory; the device must be bound. Only where is_host_addressable().
std::pair<const void*, std::size_t> device_range(c10::DeviceIndex device) noexcept;

// The device whose memory holds the kernel address `p`; -1 where none does.
c10::DeviceIndex device_of_kernel_address(const void* p) noexcept;
// The same for a device address.
c10::DeviceIndex device_of_address(const void* p) noexcept;

// Gives the device's memory and streams back to the runtime, for programs that end an epoch of use.
void shutdown() noexcept;

}  // namespace torch_npu
