#pragma once
// PyTorch's streams (device and id) and the runtime's (handles). Id 0 is a device's default stream; the others come
// from pools, one of 32 streams per device and priority, handed out in turn, and live as long as the process.

#include <acl/acl.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>

namespace torch_npu {

// The stream `id` of `device`; 0 is the default one.
c10::Stream npu_stream(c10::DeviceIndex device, c10::StreamId id);

c10::Stream default_stream(c10::DeviceIndex device);

// Priorities as PyTorch counts them: 0, which the default stream has, to this one, the most urgent.
constexpr int kGreatestPriority = -7;

// `priority` outside of the range becomes the nearest one in it.
c10::Stream stream_from_pool(c10::DeviceIndex device, int priority = 0);
int stream_priority(c10::Stream stream);

// This thread's current stream on `device`.
c10::Stream current_stream(c10::DeviceIndex device);
void set_current_stream(c10::Stream stream);

// The runtime's handle for whoever enqueues work of its own; makes the stream where it does not exist yet. Throws where
// `stream` is not an npu stream.
aclrtStream stream_handle(c10::Stream stream);

struct StreamSlot;  // what is known of one stream

// Work that this plug-in enqueues: take the handle from it and let it die after the call. It counts, so that a wait
// knows an idle stream without asking the runtime.
class Enqueue {
 public:
  // After all launches that are queued.
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
// Whether the stream has work that is not done. False where the runtime does not say.
bool is_busy(c10::Stream stream) noexcept;
void synchronize_stream(c10::Stream stream);

// How often this process has waited for a stream, an event or a device.
uint64_t synchronizations() noexcept;
void count_synchronization() noexcept;

// A block of `stream` was freed: nothing that is enqueued from now on reads what it holds, so that queued work need not
// make it. Does nothing on a real CANN, or while launches are made by the task queue, which are behind the program.
void discard(c10::Stream stream, const void* address, std::size_t nbytes) noexcept;

// Waits for the current stream of `device`; cheap where it is idle. What runs on the host reads device memory after it.
void wait_for_current_stream(c10::DeviceIndex device);

}  // namespace torch_npu
