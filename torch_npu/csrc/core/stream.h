#pragma once
// Maps PyTorch's streams (device and id) to the runtime's handles. Id 0 is a device's default stream. The others come
// from pools of 32 streams per device and priority, used in turn, and have the lifetime of the process.

#include <acl/acl.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>

namespace torch_npu {

// The stream `id` of `device`; 0 is the default one.
c10::Stream npu_stream(c10::DeviceIndex device, c10::StreamId id);

c10::Stream default_stream(c10::DeviceIndex device);

// PyTorch's priorities range from 0, the default stream's, to this one, the most urgent.
constexpr int kGreatestPriority = -7;

// `priority` is clamped to the range.
c10::Stream stream_from_pool(c10::DeviceIndex device, int priority = 0);
int stream_priority(c10::Stream stream);

// This thread's current stream on `device`.
c10::Stream current_stream(c10::DeviceIndex device);
void set_current_stream(c10::Stream stream);

// The runtime's handle for calls that enqueue nothing, such as questions.
aclrtStream runtime_handle(c10::Stream stream);

// The runtime's handle for callers that enqueue work themselves; creates the stream if necessary. Throws if `stream` is
// not an npu stream.
aclrtStream stream_handle(c10::Stream stream);

struct StreamSlot;  // the state of one stream

// For work that this plug-in enqueues: take the handle from it and destroy it after the call. It counts, so that a wait
// detects an idle stream without asking the runtime.
class Enqueue {
 public:
  // After all queued launches.
  explicit Enqueue(c10::Stream stream);
  // For a queued launch itself.
  enum FromQueue { kFromQueue };
  Enqueue(c10::Stream stream, FromQueue);
  Enqueue(const Enqueue&) = delete;
  Enqueue& operator=(const Enqueue&) = delete;
  ~Enqueue();
  aclrtStream handle() const { return handle_; }

 private:
  StreamSlot& slot_;
  aclrtStream handle_;
};

bool query_stream(c10::Stream stream);
// Whether the stream has unfinished work. False if the runtime does not know.
bool is_busy(c10::Stream stream) noexcept;
// Whether any stream of `device` that PyTorch knows has unfinished work.
bool is_any_busy(c10::DeviceIndex device) noexcept;
void synchronize_stream(c10::Stream stream);
// Returns when no stream of `device` that PyTorch knows has unfinished work. Failures of that work stay for the
// program's next wait, which throws them.
void wait_until_idle(c10::DeviceIndex device) noexcept;

// How often this process has waited for a stream, an event or a device.
uint64_t synchronizations() noexcept;
void count_synchronization() noexcept;

// A block of `stream` was freed: work enqueued from now on does not read its contents, so that queued work need not
// store them. Does nothing on a real CANN, or while the task queue makes launches, which lag behind the program.
void discard(c10::Stream stream, const void* address, std::size_t nbytes) noexcept;

// Waits for the current stream of `device`; cheap if it is idle. Afterwards host code may read device memory.
void wait_for_current_stream(c10::DeviceIndex device);

}  // namespace torch_npu
