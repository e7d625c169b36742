#pragma once
// Overflow: whether floating-point results saturate or set the device's flag, as the runtime has it.

#include <acl/acl.h>
#include <c10/core/Device.h>

namespace torch_npu {

enum class OverflowCheck {
  kNone,
  kFlag,      // an infinite or NaN result sets the flag
  kSaturate,  // and becomes finite
};

// For devices and streams that are set up from now on: called once, before the first one.
void set_overflow_check(OverflowCheck check);
OverflowCheck overflow_check() noexcept;

// Applies it to the calling thread's device, and to a new stream.
void apply_overflow_check();
void apply_overflow_check(aclrtStream stream);

// Waits for the device, then returns or clears its flag.
bool overflow_flag(c10::DeviceIndex device);
void clear_overflow_flag(c10::DeviceIndex device);
// Sets it for a result that the host computed.
void raise_overflow_flag(c10::DeviceIndex device);

}  // namespace torch_npu
