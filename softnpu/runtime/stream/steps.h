#pragma once
// Work of a stream that waits in between for something outside of its device, such as other processes.

#include <memory>

#include "base/inline_function.h"
#include "base/status.h"
#include "runtime/stream/event.h"

namespace softnpu {

class Steps {
 public:
  Steps() : turn_(std::make_shared<Event>()) {}
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  virtual ~Steps() = default;

  // Does the next part. With `*again` the stream parks until resume(), which may come before this call returns, and
  // then calls step() once more. After an error it does not.
  virtual Status step(bool* again) = 0;

  // Whether the stream is parked while its work computes elsewhere; otherwise it waits for something.
  virtual bool computes() const { return false; }

  // Any thread, while the stream may be parked.
  void resume() {
    if (whole_ != nullptr) return whole_->resume();
    turn_->complete(turn_->newest());
  }

  // What resume() completes. An event that is waited for completes it as well, also when the steps are gone.
  const std::shared_ptr<Event>& resumed_by() const { return whole_ != nullptr ? whole_->resumed_by() : turn_; }

  // They are a part of `whole`, which outlives them and calls step(): the stream is parked for it.
  void become_part(Steps* whole) { whole_ = whole; }

  // Each step is a record of it, which resume() completes.
  const std::shared_ptr<Event>& turn() const { return turn_; }

 private:
  const std::shared_ptr<Event> turn_;
  Steps* whole_ = nullptr;
};

// Makes steps for one run; called at each launch of a captured graph, on the launching thread.
using StepsMaker = InlineFunction<Status(std::shared_ptr<Steps>*), 64>;

}  // namespace softnpu
