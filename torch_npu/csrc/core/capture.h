#pragma once
// Streams that capture their work into a graph instead of running it.

#include <acl/acl.h>
#include <acl/acl_mdl.h>
#include <c10/core/Stream.h>

#include <atomic>

namespace torch_npu {

namespace detail {
extern std::atomic<int> captures;
}

// Whether a graph of this process is being captured. One load.
inline bool any_capture() noexcept { return detail::captures.load(std::memory_order_relaxed) != 0; }

// While it lives, any_capture() is true.
class OngoingCapture {
 public:
  OngoingCapture() { detail::captures.fetch_add(1); }
  OngoingCapture(const OngoingCapture&) = delete;
  OngoingCapture& operator=(const OngoingCapture&) = delete;
  ~OngoingCapture() { detail::captures.fetch_sub(1); }
};

// The model that `stream` is captured into; null if it runs its work. One load while nothing is captured.
aclmdlRI capture_of(c10::Stream stream);

// Fails, and ends the capture, if the current stream of `device` is captured: `what`, an operator or a call, needs the
// host. The error names it and the program's line.
void refuse_in_capture(c10::DeviceIndex device, const char* what, const char* why);

// While it lives, this thread may allocate device memory although a stream captures.
class RelaxedCapture {
 public:
  RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture();

 private:
  const bool is_needed_;
  aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
};

}  // namespace torch_npu
