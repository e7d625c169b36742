#pragma once
// The threads of one kernel: the calling thread and workers.

#include <algorithm>
#include <array>
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

// The pieces of a parallel loop, a range for each slot. A slot takes its own range first and then what is left of the
// others': the memory of a range stays in one core's caches from loop to loop, and a descheduled thread delays only its
// own piece.
class ChunkRanges {
 public:
  [[gnu::noinline]] ChunkRanges(int64_t pieces, int slots) : pieces_(pieces), ranges_(std::min(slots, kMaxRanges)) {
    for (int i = 0; i < ranges_; ++i) next_of(i).store(begin(i), std::memory_order_relaxed);
  }

  // The next piece for `slot`; -1 if none is left. `passed`: the number of ranges in which it found none, 0 at first.
  [[gnu::noinline]] int64_t take(int slot, int* passed) {
    for (; *passed < ranges_; ++*passed) {
      const int range = (slot + *passed) % ranges_;
      const int64_t chunk = next_of(range)++;
      if (chunk < begin(range + 1)) return chunk;
    }
    return -1;
  }

 private:
  static constexpr int kMaxRanges = 16;
  struct alignas(64) Cursor {
    std::atomic<int64_t> next;
  };

  std::atomic<int64_t>& next_of(int range) { return cursors_[static_cast<size_t>(range)].next; }
  int64_t begin(int range) const { return pieces_ / ranges_ * range + std::min<int64_t>(range, pieces_ % ranges_); }

  const int64_t pieces_;
  const int ranges_;
  std::array<Cursor, kMaxRanges> cursors_;
};

// Calls body(first, last, slot) once for each piece of `grain` elements of [0, count), on up to `threads` threads.
// `slot` is in [0, threads), and no two concurrent calls have the same: it can index scratch memory. What a piece
// computes must not depend on its thread. The first exception is rethrown at the end.
template <typename Body>
void parallel_for_slots(int64_t count, int64_t grain, int threads, const Body& body) {
  if (count <= 0) return;
  const int64_t pieces = count / grain + (count % grain != 0 ? 1 : 0);
  if (threads <= 1 || pieces == 1) return body(int64_t{0}, count, 0);
  const auto slots = static_cast<int>(std::min<int64_t>(threads, pieces));
  ChunkRanges ranges(pieces, slots);
  std::mutex mutex;  // guards error
  std::exception_ptr error;
  const auto take_pieces = [&](int slot) {
    int passed = 0;
    for (int64_t chunk = ranges.take(slot, &passed); chunk >= 0; chunk = ranges.take(slot, &passed)) {
      try {
        body(chunk * grain, std::min(count, (chunk + 1) * grain), slot);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (error == nullptr) error = std::current_exception();
      }
    }
  };
  fork_join(slots, take_pieces);
  if (error != nullptr) std::rethrow_exception(error);
}

// The same without slots: body(first, last).
template <typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const Body& body) {
  parallel_for_slots(count, grain, threads, [&](int64_t first, int64_t last, int) { body(first, last); });
}

}  // namespace softnpu
