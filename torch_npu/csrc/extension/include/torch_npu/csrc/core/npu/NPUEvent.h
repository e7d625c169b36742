#pragma once
// Events of the device npu.

#include <c10/core/Event.h>

#include <optional>

#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

// Created by its first record, on that stream's device, where it stays. Movable.
struct NPUEvent {
  // Flags are the runtime's; ACL_EVENT_TIME_LINE is needed for elapsed_time().
  NPUEvent() : NPUEvent(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE) {}
  explicit NPUEvent(unsigned int flags)
      : event_(c10::DeviceType::PrivateUse1, (flags & ACL_EVENT_TIME_LINE) != 0 ? c10::EventFlag::BACKEND_DEFAULT
                                                                                : c10::EventFlag::PYTORCH_DEFAULT) {}

  bool isCreated() const { return event() != nullptr; }
  std::optional<c10::Device> device() const { return isCreated() ? std::optional(event_.device()) : std::nullopt; }
  c10::DeviceIndex device_index() const { return event_.device_index(); }
  aclrtEvent event() const { return event_.eventId(); }
  operator aclrtEvent() const { return event(); }

  void record() { record(getCurrentNPUStream()); }
  void record(const NPUStream& stream) { event_.record(stream.unwrap()); }
  void recordOnce(const NPUStream& stream) { event_.recordOnce(stream.unwrap()); }
  // Work that `stream` gets from now on waits for the newest record.
  void block(const NPUStream& stream) { event_.block(stream.unwrap()); }
  // Whether the newest record was passed; true before the first.
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  // Milliseconds from this event to `other`; waits for neither.
  float elapsed_time(const NPUEvent& other) const { return static_cast<float>(event_.elapsedTime(other.event_)); }

 private:
  c10::Event event_;
};

}  // namespace c10_npu
