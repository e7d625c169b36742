#pragma once
// How sweeps go together.

#include "nnopbase/sweep.h"

namespace softnpu {

// About what one element costs, in the operations that threads_for counts: it waits for memory.
constexpr double kSweepFlops = 16;

// A sweep that costs about `cost` simple vector operations for each element beside its memory.
class CostedSweep : public Sweep {
 public:
  explicit CostedSweep(double cost) : cost_(cost) {}
  void run_together(std::span<const Sweep* const> sweeps) const final;

 protected:
  // About what all of it costs, in the operations that threads_for counts.
  double work() const;

 private:
  double cost_;
};

}  // namespace softnpu
