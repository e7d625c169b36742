#pragma once
// PyTorch's events ask the guard for a handle at their first record. Events that need a handle of another kind (shared
// with other processes, or waited for before they are recorded) get it from here.

#include <acl/acl.h>
#include <c10/core/Event.h>

namespace torch_npu {

// Makes `event`, which has no handle yet, the owner of `handle`, which belongs to `device`. Enqueues nothing.
void adopt_event(c10::Event& event, aclrtEvent handle, c10::DeviceIndex device);

}  // namespace torch_npu
