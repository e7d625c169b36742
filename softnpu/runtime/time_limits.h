#pragma once
// How long the host's waits bear with one operator, and with one wait of a stream (aclrtSetOpExecuteTimeOut,
// aclrtSetOpWaitTimeout).

#include <chrono>

#include "base/status.h"

namespace softnpu {

class Event;
class Stream;

struct TimeLimits {
  static constexpr std::chrono::microseconds kForever = std::chrono::microseconds::max();

  std::chrono::microseconds execute = kForever;
  std::chrono::microseconds wait = kForever;

  bool any() const { return execute != kForever || wait != kForever; }
  // How often a wait looks whether something is overdue.
  std::chrono::microseconds pause() const;
};

// Of the process; at first there are none.
TimeLimits time_limits();
// Zero, or more than fits: for ever.
void set_execute_limit(std::chrono::microseconds limit);
void set_wait_limit(std::chrono::microseconds limit);

// Lets each operator that runs longer than its limit end by itself, and gives its device a fresh thread.
void leave_overdue(const TimeLimits& limits);

// What a wait for `stream`, or for that record of `event`, would have to wait for longer than the limits allow, as an
// error; ok where there is nothing such. Follows the events that streams wait for, on all devices. Takes the streams'
// locks, one after another.
Status overdue(const Stream& stream, const TimeLimits& limits);
Status overdue(const Event& event, uint64_t generation, const TimeLimits& limits);

}  // namespace softnpu
