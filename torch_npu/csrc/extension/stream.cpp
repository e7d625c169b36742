#include "core/stream.h"

#include "core/acl.h"
#include "core/device.h"
#include "core/special_streams.h"
#include "core/wait.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {
namespace {

NPUStream unchecked(c10::Stream stream) { return {NPUStream::UNCHECKED, stream}; }

}  // namespace

NPUStream::NPUStream(c10::Stream stream) : stream_(stream) {
  TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1, "expected an npu stream, got one of ",
              stream.device());
}

bool NPUStream::query() const { return torch_npu::query_stream(stream_); }
void NPUStream::synchronize() const { torch_npu::wait_for_stream(stream_); }
void NPUStream::validate() const { static_cast<void>(stream()); }
int NPUStream::priority() const { return torch_npu::stream_priority(stream_); }
bool NPUStream::isSyncLaunchStream() const { return torch_npu::is_sync_launch(stream_); }
aclrtStream NPUStream::stream() const { return torch_npu::stream_handle(stream_); }
aclrtStream NPUStream::stream(bool) const { return stream(); }

NPUStream getCurrentNPUStream(c10::DeviceIndex device) { return unchecked(torch_npu::current_stream(device)); }
NPUStream getDefaultNPUStream(c10::DeviceIndex device) { return unchecked(torch_npu::default_stream(device)); }
NPUStream getNPUStreamFromPool(c10::DeviceIndex device) { return unchecked(torch_npu::stream_from_pool(device)); }
NPUStream getStreamFromPool(int priority, c10::DeviceIndex device) {
  return unchecked(torch_npu::stream_from_pool(device, priority));
}
NPUStream getStreamFromPool(bool is_high_priority, c10::DeviceIndex device) {
  return getStreamFromPool(is_high_priority ? torch_npu::kGreatestPriority : 0, device);
}
NPUStream getStreamFromExternal(aclrtStream stream, c10::DeviceIndex device) {
  return unchecked(torch_npu::external_stream(device, stream));
}
NPUStream getNPUStreamFromSyncLaunchPool(c10::DeviceIndex device) {
  return unchecked(torch_npu::sync_launch_stream(device));
}
void setCurrentNPUStream(NPUStream stream) { torch_npu::set_current_stream(stream.unwrap()); }
aclrtStream getCurrentNPUStreamNoWait(c10::DeviceIndex device) { return getCurrentNPUStream(device).stream(); }

bool npuSynchronizeDevice(bool check_error) {
  try {
    torch_npu::wait_for_all_work(torch_npu::current_device());
  } catch (const c10::Error& error) {
    if (check_error) throw;
    TORCH_WARN(error.what_without_backtrace());
    return false;
  }
  return true;
}

std::ostream& operator<<(std::ostream& out, const NPUStream& stream) { return out << stream.unwrap(); }

}  // namespace c10_npu
