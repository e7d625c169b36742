#pragma once
// Notifies softnpu of bytes that host kernels write, and of blocks that the caching allocator frees. The cache of
// packed weights is validated by them. Both do nothing on a real CANN.

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>

namespace torch_npu {

// [address, address + nbytes), of any device, is about to be written by the host.
void bump_write_epoch(const void* address, std::size_t nbytes);

// A block was freed.
void report_freed(const void* address, std::size_t nbytes);

// The device memory of packed weights, which is not part of the allocator's.
std::int64_t packed_weights_bytes(c10::DeviceIndex device);

}  // namespace torch_npu
