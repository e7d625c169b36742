#pragma once
// The threads of one kernel: the team of the thread that runs it.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>

#include "ops/onednn/engine.h"

namespace softnpu {

// Calls body(first, last) for pieces of [0, count) of `grain` elements on up to `threads` threads, each piece once.
// Which thread takes which piece is open: what a piece computes must not depend on it. A team that lost a core to
// somebody else goes on with the others, since pieces are taken as threads come free. The first exception is thrown at
// the end.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, int threads, const Body& body) {
  if (count <= 0) return;
  const int64_t pieces = (count + grain - 1) / grain;
  if (threads <= 1 || pieces == 1) return body(int64_t{0}, count);
  std::mutex mutex;  // guards error
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t piece = 0; piece < pieces; ++piece) {
    try {
      body(piece * grain, std::min(count, (piece + 1) * grain));
    } catch (...) {
      std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace softnpu
