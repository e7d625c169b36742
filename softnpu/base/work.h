#pragma once
// The sizes of work that decide where it runs.

namespace softnpu {

// Of `Plan::work`, in what is about a floating-point operation on data that is at hand; reading or writing an element
// that is not counts for 8. Below kSmallWork one thread is done, within tens of microseconds, about when two would be.
// Below kShortWork it is over, with all threads, before handing it to the executor would have paid (softnpuCost).
constexpr double kSmallWork = 1 << 22;
constexpr double kShortWork = 1 << 28;

}  // namespace softnpu
