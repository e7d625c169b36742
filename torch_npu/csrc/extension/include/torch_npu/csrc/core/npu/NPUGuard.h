#pragma once
// Guards of the current device and stream: PyTorch's, restricted to the device npu.

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>

#include <optional>
#include <vector>

#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {
namespace detail {

inline c10::Device npu(c10::DeviceIndex index) { return {c10::DeviceType::PrivateUse1, index}; }
inline c10::Device npu(c10::Device device) {
  TORCH_CHECK(device.type() == c10::DeviceType::PrivateUse1, "expected an npu device, got ", device);
  return device;
}
template <typename T>
std::optional<c10::Device> npu(const std::optional<T>& device) {
  return device.has_value() ? std::optional(npu(*device)) : std::nullopt;
}
inline c10::Stream npu(c10::Stream stream) { return NPUStream(stream).unwrap(); }
inline std::optional<NPUStream> npu(const std::optional<c10::Stream>& stream) {
  return stream.has_value() ? std::optional(NPUStream(NPUStream::UNCHECKED, *stream)) : std::nullopt;
}

}  // namespace detail

// Sets the device until its end.
struct NPUGuard {
  explicit NPUGuard(c10::DeviceIndex index) : guard_(detail::npu(index)) {}
  explicit NPUGuard(c10::Device device) : guard_(detail::npu(device)) {}
  void set_device(c10::Device device) { guard_.reset_device(detail::npu(device)); }
  void reset_device(c10::Device device) { guard_.reset_device(detail::npu(device)); }
  void set_index(c10::DeviceIndex index) { guard_.set_index(index); }
  c10::Device original_device() const { return guard_.original_device(); }
  c10::Device current_device() const { return guard_.current_device(); }

 private:
  c10::DeviceGuard guard_;
};

// The same, or nothing.
struct OptionalNPUGuard {
  OptionalNPUGuard() = default;
  explicit OptionalNPUGuard(std::optional<c10::Device> device) : guard_(detail::npu(device)) {}
  explicit OptionalNPUGuard(std::optional<c10::DeviceIndex> index) : guard_(detail::npu(index)) {}
  void set_device(c10::Device device) { guard_.reset_device(detail::npu(device)); }
  void reset_device(c10::Device device) { guard_.reset_device(detail::npu(device)); }
  void set_index(c10::DeviceIndex index) { guard_.reset_device(detail::npu(index)); }
  std::optional<c10::Device> original_device() const { return guard_.original_device(); }
  std::optional<c10::Device> current_device() const { return guard_.current_device(); }

 private:
  c10::OptionalDeviceGuard guard_;
};

// Sets the stream and its device until its end.
struct NPUStreamGuard {
  explicit NPUStreamGuard(c10::Stream stream) : guard_(detail::npu(stream)) {}
  void reset_stream(c10::Stream stream) { guard_.reset_stream(detail::npu(stream)); }
  NPUStream original_stream() const { return {NPUStream::UNCHECKED, guard_.original_stream()}; }
  NPUStream current_stream() const { return {NPUStream::UNCHECKED, guard_.current_stream()}; }
  c10::Device original_device() const { return guard_.original_device(); }
  c10::Device current_device() const { return guard_.current_device(); }

 private:
  c10::StreamGuard guard_;
};

struct OptionalNPUStreamGuard {
  OptionalNPUStreamGuard() = default;
  explicit OptionalNPUStreamGuard(c10::Stream stream) : guard_(detail::npu(stream)) {}
  explicit OptionalNPUStreamGuard(std::optional<c10::Stream> stream) : guard_(stream) {}
  void reset_stream(c10::Stream stream) { guard_.reset_stream(detail::npu(stream)); }
  std::optional<NPUStream> original_stream() const { return detail::npu(guard_.original_stream()); }
  std::optional<NPUStream> current_stream() const { return detail::npu(guard_.current_stream()); }
  void reset() { guard_.reset(); }

 private:
  c10::OptionalStreamGuard guard_;
};

// Sets a stream for each of several devices.
struct NPUMultiStreamGuard {
  explicit NPUMultiStreamGuard(c10::ArrayRef<NPUStream> streams)
      : guard_(std::vector<c10::Stream>(streams.begin(), streams.end())) {}

 private:
  c10::MultiStreamGuard guard_;
};

}  // namespace c10_npu
