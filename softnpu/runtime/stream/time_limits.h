#pragma once
// How long host waits tolerate one operator, and one wait of a stream (aclrtSetOpExecuteTimeOut,
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
  // The interval at which a wait checks for overdue work.
  std::chrono::microseconds pause() const;
};

// The limits of the process; initially none.
TimeLimits time_limits();
// Zero, or a value out of range: no limit.
void set_execute_limit(std::chrono::microseconds limit);
void set_wait_limit(std::chrono::microseconds limit);

// Abandons each operator that runs longer than its limit, and starts a new thread for its device.
void leave_overdue(const TimeLimits& limits);

// An error if a wait for `stream`, or for that record of `event`, waits for work that exceeds the limits; otherwise ok.
// Follows the events that streams wait for, on all devices. Locks one stream at a time.
Status overdue(const Stream& stream, const TimeLimits& limits);
Status overdue(const Event& event, uint64_t generation, const TimeLimits& limits);

}  // namespace softnpu
