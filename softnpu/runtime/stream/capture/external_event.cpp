#include "runtime/stream/capture/external_event.h"

#include <optional>
#include <utility>

#include "runtime/stream/capture/capture.h"
#include "runtime/stream/steps.h"
#include "runtime/stream/stream.h"

namespace softnpu {
namespace {

// One replay's wait.
class ExternalWait final : public Steps {
 public:
  explicit ExternalWait(std::shared_ptr<Event> event) : event_(std::move(event)) {}

  Status step(bool* again) override {
    if (!generation_.has_value()) generation_ = event_->newest();
    *again = event_->park(*generation_, {nullptr, 0, resumed_by()});
    return Status::ok();
  }

 private:
  const std::shared_ptr<Event> event_;
  std::optional<uint64_t> generation_;
};

Status add(const Stream& stream, CapturedTask task, bool* is_captured) {
  const std::shared_ptr<Capture> capture = stream.capture();
  *is_captured = capture != nullptr;
  return capture == nullptr ? Status::ok() : capture->add(stream, std::move(task));
}

}  // namespace

Status capture_external_record(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured) {
  CapturedTask task;
  task.name = "record of an external event";
  task.work = [event = std::move(event)] {
    event->complete(event->begin_record());
    return Status::ok();
  };
  return add(stream, std::move(task), is_captured);
}

Status capture_external_wait(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured) {
  CapturedTask task;
  task.name = "wait for an external event";
  task.make_steps = [event = std::move(event)](std::shared_ptr<Steps>* out) {
    *out = std::make_shared<ExternalWait>(event);
    return Status::ok();
  };
  return add(stream, std::move(task), is_captured);
}

Status capture_external_reset(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured) {
  CapturedTask task;
  task.name = "reset of an external event";
  task.work = [event = std::move(event)] {
    event->reset();
    return Status::ok();
  };
  return add(stream, std::move(task), is_captured);
}

}  // namespace softnpu
