#pragma once
// Streams of the device npu.

#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>
#include <ostream>

#include "third_party/acl/inc/acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/npu_log.h"

namespace c10_npu {

// A c10::Stream of an npu. Converts to that and to the runtime's handle.
class C10_NPU_API NPUStream {
 public:
  enum Unchecked { UNCHECKED };

  // Throws if the stream is not an npu's.
  explicit NPUStream(c10::Stream stream);
  NPUStream(Unchecked, c10::Stream stream) : stream_(stream) {}

  bool operator==(const NPUStream& other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const NPUStream& other) const noexcept { return stream_ != other.stream_; }

  operator aclrtStream() const { return stream(); }
  operator c10::Stream() const { return stream_; }

  c10::DeviceType device_type() const { return c10::DeviceType::PrivateUse1; }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }
  c10::Stream unwrap() const { return stream_; }

  // Whether all of its work is done.
  bool query() const;
  // Waits for its work; throws what failed.
  void synchronize() const;
  // Throws if there is no such stream.
  void validate() const;
  int priority() const;
  // Whether its launches are always made by the calling thread.
  bool isSyncLaunchStream() const;

  // The handle, for work that the caller enqueues. Launches of the task queue are made first.
  aclrtStream stream() const;
  // The same; here they are made in either case, so that the runtime sees one order.
  aclrtStream stream(bool need_empty) const;

  c10::StreamData3 pack3() const { return stream_.pack3(); }
  static NPUStream unpack3(c10::StreamId id, c10::DeviceIndex device, c10::DeviceType type) {
    const NPUStream stream(c10::Stream::unpack3(id, device, type));
    stream.validate();
    return stream;
  }

 private:
  c10::Stream stream_;
};

// -1 is the current device.
C10_NPU_API NPUStream getCurrentNPUStream(c10::DeviceIndex device = -1);
C10_NPU_API NPUStream getDefaultNPUStream(c10::DeviceIndex device = -1);
C10_NPU_API NPUStream getNPUStreamFromPool(c10::DeviceIndex device = -1);
// The priority ranges from 0 to -7, the most urgent.
C10_NPU_API NPUStream getStreamFromPool(int priority, c10::DeviceIndex device = -1);
C10_NPU_API NPUStream getStreamFromPool(bool is_high_priority, c10::DeviceIndex device = -1);
// A stream of the program's own, which has to live as long as it is used here. One handle has one stream.
C10_NPU_API NPUStream getStreamFromExternal(aclrtStream stream, c10::DeviceIndex device);
C10_NPU_API NPUStream getNPUStreamFromSyncLaunchPool(c10::DeviceIndex device = -1);
// This thread's current stream on its device.
C10_NPU_API void setCurrentNPUStream(NPUStream stream);
C10_NPU_API aclrtStream getCurrentNPUStreamNoWait(c10::DeviceIndex device = -1);

// Waits for all work of the current device. Without `check_error` a failure returns false.
C10_NPU_API bool npuSynchronizeDevice(bool check_error = true);

C10_NPU_API std::ostream& operator<<(std::ostream& out, const NPUStream& stream);

}  // namespace c10_npu

template <>
struct std::hash<c10_npu::NPUStream> {
  std::size_t operator()(const c10_npu::NPUStream& stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};
