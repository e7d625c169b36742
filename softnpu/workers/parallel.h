#pragma once
// The threads of one kernel: the one that runs it, and workers.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/threads.h"
#include "base/work.h"
#include "workers/workers.h"

namespace softnpu {

// The threads for work (Plan::work) whose pieces are the same however many there are: one below kMinParallelWork, all
// from kSmallWork on. Between them it depends on whether a worker is awake, since waking one takes longer than the
// work.
inline int threads_for(double work) {
  constexpr double kMinParallelWork = 1 << 18;
  return work < kMinParallelWork || (work < kSmallWork && !any_worker_awake()) ? 1 : most_threads();
}

// Calls body(first, last, slot) for pieces of [0, count) of `grain` elements on up to `threads` threads, each piece
// once. `slot` is below `threads` and one call's at a time: what it numbers is that call's own. Which thread takes
// which piece is open: what a piece computes must not depend on it. A thread that lost its core to somebody else delays
// the piece that it has, since pieces are taken as threads come free. The first exception is thrown at the end.
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

// The same for what needs nothing of its own: body(first, last).
template <typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const Body& body) {
  parallel_for_slots(count, grain, threads, [&](int64_t first, int64_t last, int) { body(first, last); });
}

}  // namespace softnpu
