#pragma once
// What softnpu cannot see: bytes that the host's kernels write, and blocks that the caching allocator frees. It keeps
// packed copies of weights by it. Both do nothing on a real CANN.

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>

namespace torch_npu {

// [address, address + nbytes), of any device, is about to be written on the host.
void mark_written(const void* address, std::size_t nbytes);

// Nobody wants the bytes of a block any more.
void mark_released(const void* address, std::size_t nbytes);

// The device memory, beside the allocator's, that packed copies of weights take.
std::int64_t packed_weights_bytes(c10::DeviceIndex device);

}  // namespace torch_npu
