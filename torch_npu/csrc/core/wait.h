#pragma once
// How the host waits for the device, and how it hears of work that failed.

#include <acl/acl.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <string>

namespace torch_npu {

// `check` is called every 100 ms of an interruptible wait; it throws to end the wait. Queued work goes on.
void set_interrupt_check(void (*check)());

// Waits that a Ctrl-C ends. Whoever waits so keeps no host memory that queued work still reads or writes.
// `wait` takes milliseconds, as the runtime's functions with time-outs do.
void wait_interruptibly(const char* call, c10::function_ref<aclError(int32_t)> wait);
void wait_for_stream(c10::Stream stream);
void wait_for_event(aclrtEvent event);
void wait_for_all_work(c10::DeviceIndex device);

// The first failure that the last waits of the process found, in the words of acl_check(); empty where all went well.
// Who writes it to stderr calls it, and the process then ends with the code 1 where it would have ended with 0.
std::string take_final_failure();
// Keeps the runtime's newest error for it.
void keep_final_failure() noexcept;

}  // namespace torch_npu
