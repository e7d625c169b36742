// The device guard, which PyTorch's generic code (torch.Stream, torch.Event, torch.accelerator, autograd) calls.

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <utility>

#include "core/acl.h"
#include "core/adopted_event.h"
#include "core/allocator/caching_allocator.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/program_lines.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::Stream;

thread_local aclrtEvent adopted = nullptr;  // during adopt_event()

struct DeviceGuardImpl final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;

  c10::DeviceType type() const override { return kType; }

  Device getDevice() const override { return {kType, current_device()}; }

  void setDevice(Device device) const override { set_device(device.has_index() ? device.index() : current_device()); }

  // Switching is free until a call needs the runtime's device.
  void uncheckedSetDevice(Device device) const noexcept override {
    if (device.has_index()) set_device_lazily(device.index());
  }

  Device exchangeDevice(Device device) const override {
    Device previous = getDevice();
    if (device.has_index() && device.index() != previous.index()) set_device(device.index());
    return previous;
  }

  DeviceIndex deviceCount() const noexcept override { return device_count(); }

  Stream getStream(Device device) const override { return current_stream(device.index()); }
  Stream getDefaultStream(Device device) const override { return default_stream(device.index()); }
  Stream getNewStream(Device device, int priority) const override { return stream_from_pool(device.index(), priority); }
  Stream getStreamFromGlobalPool(Device device, bool is_high_priority) const override {
    return stream_from_pool(device.index(), is_high_priority ? kGreatestPriority : 0);
  }

  Stream exchangeStream(Stream stream) const override {
    Stream previous = current_stream(stream.device_index());
    set_current_stream(stream);
    return previous;
  }

  bool isStreamCapturing(const Stream& stream) const override { return capture_of(stream) != nullptr; }
  void* getStreamNativeHandle(Stream stream) const override { return stream_handle(stream); }
  bool queryStream(const Stream& stream) const override { return query_stream(stream); }
  void synchronizeStream(const Stream& stream) const override { wait_for_stream(stream); }
  void synchronizeDevice(DeviceIndex device) const override { wait_for_all_work(device); }

  void record(void** event, const Stream& stream, DeviceIndex device, c10::EventFlag flag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "Event device npu:", static_cast<int>(device),
                " does not match the recording stream's device npu:", static_cast<int>(stream.device_index()));
    if (C10_UNLIKELY(adopted != nullptr)) {
      *event = std::exchange(adopted, nullptr);
      return;
    }
    if (*event == nullptr) {
      uint32_t acl_flag =
          flag == c10::EventFlag::BACKEND_DEFAULT ? ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE : ACL_EVENT_SYNC;
      bind_device(stream.device_index());
      acl_check(aclrtCreateEventExWithFlag(event, acl_flag), "aclrtCreateEventExWithFlag");
    }
    acl_check(aclrtRecordEvent(*event, Enqueue(stream).handle()), "aclrtRecordEvent");
  }

  void block(void* event, const Stream& stream) const override {
    if (event != nullptr) acl_check(aclrtStreamWaitEvent(Enqueue(stream).handle(), event), "aclrtStreamWaitEvent");
  }

  bool queryEvent(void* event) const override {
    if (event == nullptr) return true;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    acl_check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    count_synchronization();
    const program_lines::Waiting waiting;
    wait_for_event(event);
  }

  void destroyEvent(void* event, DeviceIndex) const noexcept override {
    if (event != nullptr && !in_bad_fork()) acl_warn(aclrtDestroyEvent(event), "aclrtDestroyEvent");
  }

  double elapsedTime(void* start, void* end, DeviceIndex) const override {
    TORCH_CHECK(start != nullptr && end != nullptr, "Both events must be recorded before calculating elapsed time.");
    float ms = 0;
    acl_check(aclrtEventElapsedTime(&ms, start, end), "aclrtEventElapsedTime");
    return ms;
  }

  void recordDataPtrOnStream(const c10::DataPtr& ptr, const Stream& stream) const override {
    caching_allocator().recordStream(ptr, stream);
  }

  c10::DeviceCapability getDeviceCapability(Device) const override {
    c10::DeviceCapability all;
    all.capability_data.capability_bits = ~uint64_t{0} >> (64 - static_cast<int>(c10::ScalarType::NumOptions));
    return all;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, DeviceGuardImpl);

}  // namespace

void adopt_event(c10::Event& event, aclrtEvent handle, c10::DeviceIndex device) {
  TORCH_CHECK(event.eventId() == nullptr, "the event has a handle already");
  adopted = handle;
  event.record(default_stream(device));
}

}  // namespace torch_npu
