// Device time per operator by events, for torch.autograd.profiler.profile(use_device="npu"): one event on the current
// stream before each operator and one after it.

#include <c10/core/DeviceGuard.h>
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "core/device.h"
#include "core/event.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

using torch::profiler::impl::ProfilerStubs;
using torch::profiler::impl::ProfilerVoidEventStub;

struct Stubs final : ProfilerStubs {
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event, int64_t* cpu_ns) const override {
    const c10::DeviceIndex current = current_device();
    bind_device(current);
    if (device != nullptr) *device = current;
    auto result = std::make_shared<Event>();
    if (cpu_ns != nullptr) *cpu_ns = c10::getTime();
    result->record(current_stream(current));
    *event = std::move(result);
  }

  // In microseconds, the unit of all of torch's stubs.
  float elapsed(const ProfilerVoidEventStub* start, const ProfilerVoidEventStub* end) const override {
    constexpr double kUsPerMs = 1000;
    return static_cast<float>(elapsed_ms(as_event(start), as_event(end)) * kUsPerMs);
  }

  // Marks and ranges are for vendor tools (msprof's, as NVTX for CUDA): not supported.
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}

  bool enabled() const override { return device_count() > 0; }

  void onEachDevice(std::function<void(int)> op) const override {
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      c10::DeviceGuard guard(npu_device(device));
      op(device);
    }
  }

  void synchronize() const override { synchronize_device(current_device()); }

 private:
  static const Event& as_event(const ProfilerVoidEventStub* stub) { return *static_cast<const Event*>(stub->get()); }
};

[[maybe_unused]] const bool registered = [] {
  static Stubs stubs;
  torch::profiler::impl::registerPrivateUse1Methods(&stubs);
  return true;
}();

}  // namespace
}  // namespace torch_npu
