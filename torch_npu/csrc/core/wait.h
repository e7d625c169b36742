#pragma once
// How the host waits for the device, and how failures of work are reported.

#include <acl/acl.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/FunctionRef.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace torch_npu {

// `check` is called every 100 ms of an interruptible wait; it throws to end the wait. Queued work continues.
void set_interrupt_check(void (*check)());

// The most milliseconds that one wait may last: ACL_STREAM_TIMEOUT, and ACL_DEVICE_SYNC_TIMEOUT, which is in seconds. A
// longer wait throws; work continues. The runtime's number for none is the default.
constexpr int32_t kNoLimit = -1;
int32_t stream_wait_limit();
int32_t device_wait_limit();

// Waits that Ctrl-C can end, for at most `limit` ms. The caller must not own host memory that queued work still
// accesses. `wait` takes milliseconds, as the runtime's functions with time-outs do.
void wait_interruptibly(const char* call, int32_t limit, c10::function_ref<aclError(int32_t)> wait);
void wait_for_stream(c10::Stream stream);
void wait_for_event(aclrtEvent event);
void wait_for_all_work(c10::DeviceIndex device);

// Whether this thread runs a function that a stream waits for: it must not wait for the device. False on a real CANN,
// which does not tell.
bool in_callback() noexcept;

// Lets other threads run, the longer the longer ago `start` is; at most 1 ms.
void pause_since(std::chrono::steady_clock::time_point start);

// The first failure found by the process's final waits, in acl_check()'s format; empty if there was none. The caller
// writes it to stderr, and the process then ends with the code 1 instead of 0.
std::string take_final_failure();
// Stores the runtime's newest error for it.
void keep_final_failure() noexcept;

}  // namespace torch_npu
