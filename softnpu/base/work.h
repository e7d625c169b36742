#pragma once
// Thresholds of work that decide where it runs.

namespace softnpu {

// In units of Plan::work: about one floating-point operation on cached data; reading or writing an uncached element
// counts as 8. Below kSmallWork (tens of microseconds) a second thread brings no gain. Below kShortWork the work takes,
// with all threads, less time than handing it to the executor would save (softnpuCost).
constexpr double kSmallWork = 1 << 22;
// Below it a second thread brings no gain even if it is awake.
constexpr double kMinParallelWork = 1 << 18;
constexpr double kShortWork = 1 << 28;

}  // namespace softnpu
