#pragma once
// PyTorch's streams (device and id) and the runtime's (handles). Id 0 is a device's default stream; the others come
// from a pool of 32 a device, handed out in turn, and live as long as the process.

#include <acl/acl.h>
#include <c10/core/Stream.h>

namespace torch_npu {

c10::Stream default_stream(c10::DeviceIndex device);
c10::Stream stream_from_pool(c10::DeviceIndex device);

// This thread's current stream on `device`.
c10::Stream current_stream(c10::DeviceIndex device);
void set_current_stream(c10::Stream stream);

// The runtime's handle; makes the stream where it does not exist yet. Throws where `stream` is not an npu stream.
aclrtStream stream_handle(c10::Stream stream);

bool query_stream(c10::Stream stream);
void synchronize_stream(c10::Stream stream);

// Waits for the current stream of `device`; cheap where it is idle. What runs on the host reads device memory after it.
void wait_for_current_stream(c10::DeviceIndex device);

}  // namespace torch_npu
