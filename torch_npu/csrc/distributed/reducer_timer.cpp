// Times of DistributedDataParallel's steps, which its logger asks the device of the module for.

#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>

#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <optional>

#include "core/stream.h"

namespace torch_npu {
namespace {

class NpuTimer final : public c10d::Timer {
 public:
  explicit NpuTimer(c10::Device device) : device_(device) {}

  void record(Event event) override {
    // The host's time, which the logger shows as well.
    Timer::record(event);
    const c10::DeviceGuard guard(device_);
    std::optional<c10::Event>& slot = event_of(event);
    if (!slot.has_value()) slot.emplace(c10::DeviceType::PrivateUse1, c10::EventFlag::BACKEND_DEFAULT);
    slot->record(current_stream(device_.index()));
  }

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const c10::DeviceGuard guard(device_);
    std::optional<c10::Event>& first = event_of(start);
    std::optional<c10::Event>& last = event_of(end);
    // An event of an earlier iteration would give a negative time.
    if (!first.has_value() || !last.has_value()) return std::nullopt;
    first->synchronize();
    last->synchronize();
    constexpr double kNsPerMs = 1e6;
    const double milliseconds = first->elapsedTime(*last);
    if (milliseconds < 0) return std::nullopt;
    return static_cast<int64_t>(milliseconds * kNsPerMs);
  }

 private:
  std::optional<c10::Event>& event_of(Event event) {
    switch (event) {
      case Event::kForwardStart: return forward_start_;
      case Event::kBackwardComputeStart: return compute_start_;
      case Event::kBackwardComputeEnd: return compute_end_;
      case Event::kBackwardCommStart: return comm_start_;
      default: return comm_end_;
    }
  }

  c10::Device device_;
  std::optional<c10::Event> forward_start_;
  std::optional<c10::Event> compute_start_;
  std::optional<c10::Event> compute_end_;
  std::optional<c10::Event> comm_start_;
  std::optional<c10::Event> comm_end_;
};

}  // namespace
}  // namespace torch_npu

namespace c10d {
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::DeviceType::PrivateUse1, torch_npu::NpuTimer);
}  // namespace c10d
