#pragma once
// torch.npu.set_sync_debug_mode: finds operators that make the host wait for the device.

#include <cstdint>

namespace torch_npu {

// 0: nothing, 1: such an operator warns, 2: it raises. Throws for other values.
void set_sync_debug_mode(int64_t mode);
int64_t sync_debug_mode() noexcept;

// To be called by an operator before it waits, from a Python program's thread.
void alert_of_synchronization();

}  // namespace torch_npu
