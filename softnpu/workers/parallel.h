#pragma once
// The threads of one kernel: the calling thread and workers.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/threads.h"
#include "base/work.h"
#include "workers/workers.h"

namespace softnpu {

// The number of threads for `work` (Plan::work): one below kMinParallelWork, all from kSmallWork on. In between all if
// a worker is awake, since waking one takes longer than the work. Only for work whose pieces do not depend on the
// number of threads.
inline int threads_for(double work) {
  return work < kMinParallelWork || (work < kSmallWork && !any_worker_awake()) ? 1 : most_threads();
}

// Calls body(first, last, slot) once for each piece of `grain` elements of [0, count), on up to `threads` threads.
// `slot` is in [0, threads), and no two concurrent calls have the same: it can index scratch memory. Threads claim
// pieces dynamically, so that a descheduled thread delays only its own piece; what a piece computes must not depend on
// its thread. The first exception is rethrown at the end.
template <typename Body>
void parallel_for_slots(int64_t count, int64_t grain, int threads, const Body& body) {
  if (count <= 0) return;
  const int64_t pieces = count / grain + (count % grain != 0 ? 1 : 0);
  if (threads <= 1 || pieces == 1) return body(int64_t{0}, count, 0);
  std::atomic<int64_t> next{0};
  std::mutex mutex;  // guards error
  std::exception_ptr error;
  const auto take_pieces = [&](int slot) {
    for (int64_t piece = next++; piece < pieces; piece = next++) {
      try {
        body(piece * grain, std::min(count, (piece + 1) * grain), slot);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (error == nullptr) error = std::current_exception();
      }
    }
  };
  fork_join(static_cast<int>(std::min<int64_t>(threads, pieces)), take_pieces);
  if (error != nullptr) std::rethrow_exception(error);
}

// The same without slots: body(first, last).
template <typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const Body& body) {
  parallel_for_slots(count, grain, threads, [&](int64_t first, int64_t last, int) { body(first, last); });
}

}  // namespace softnpu
