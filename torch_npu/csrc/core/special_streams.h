#pragma once
// Streams that are not from the pools of stream.h: handles that the program made, and streams that bypass the task
// queue. Also the stop of a device, which every stream observes.

#include <acl/acl.h>
#include <c10/core/Stream.h>

namespace torch_npu {

// The stream of a runtime handle that the program owns and keeps alive. The same handle has the same stream.
c10::Stream external_stream(c10::DeviceIndex device, aclrtStream handle);

// A stream whose launches are always made by the calling thread.
c10::Stream sync_launch_stream(c10::DeviceIndex device);
bool is_sync_launch(c10::Stream stream) noexcept;

// Drops the queued work of `device`; later work raises until restart_device().
void stop_device(c10::DeviceIndex device);
// Clears the errors of dropped work and accepts work again.
void restart_device(c10::DeviceIndex device);

}  // namespace torch_npu
