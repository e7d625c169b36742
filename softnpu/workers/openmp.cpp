// oneDNN is bound to these functions instead of libgomp's (bind_onednn.py): its parallel regions run on the pool. A
// nested region has one thread, as is libgomp's default. The functions follow the OpenMP specification and libgomp's
// documented ABI.

#include "workers/openmp.h"

#include <algorithm>
#include <utility>

#include "workers/workers.h"

namespace softnpu {
namespace {

// The iterations of a statically scheduled loop that this thread runs.
struct StaticLoop {
  long start = 0;
  long step = 1;
  long trips = 0;
  long chunk = 0;  // trips per chunk, dealt in turn; 0: one contiguous range per thread
  long turn = 0;

  bool next(long* first, long* end) {
    const auto [slot, slots, in_region] = this_slot();
    long begin = 0;
    long count = 0;
    if (chunk > 0) {
      begin = (turn * slots + slot) * chunk;
      count = std::min(chunk, trips - begin);
    } else if (turn == 0) {
      const long rest = trips % slots;
      begin = slot * (trips / slots) + std::min<long>(slot, rest);
      count = trips / slots + (slot < rest ? 1 : 0);
    }
    ++turn;
    if (count <= 0) return false;
    *first = start + begin * step;
    *end = *first + count * step;
    return true;
  }
};

// The calling thread's regions.
struct Regions {
  int threads = 1;
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  ParallelRegion outermost;  // forked by this thread outside of slots
  ParallelRegion nested;     // forked within a slot
  int depth = 0;             // nested regions
  StaticLoop loop;
};
constinit thread_local Regions regions;

}  // namespace

int exchange_openmp_threads(int threads) noexcept { return std::exchange(regions.threads, threads); }

}  // namespace softnpu

using softnpu::regions;
using softnpu::this_slot;

extern "C" {

ACL_FUNC_VISIBILITY void softnpu_GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads) {
  if (this_slot().in_region) {
    if (regions.depth++ == 0) regions.nested.fork(nullptr, nullptr, 1);
    return;
  }
  regions.body = body;
  regions.data = data;
  const auto run = [](void* own, int) {
    const auto& of_submitter = *static_cast<const softnpu::Regions*>(own);
    of_submitter.body(of_submitter.data);
  };
  const int wanted = threads == 0 ? regions.threads : static_cast<int>(threads);
  // A barrier needs as many threads as slots.
  regions.outermost.fork(run, &regions, softnpu::reserve_workers(wanted - 1) ? wanted : 1);
}

ACL_FUNC_VISIBILITY void softnpu_GOMP_parallel_end() {
  if (regions.depth == 0) return regions.outermost.join();
  if (--regions.depth == 0) regions.nested.join();
}

ACL_FUNC_VISIBILITY void softnpu_GOMP_barrier() {
  if (softnpu::ParallelRegion* region = softnpu::this_region()) region->barrier();
}

ACL_FUNC_VISIBILITY bool softnpu_GOMP_loop_static_start(long start, long end, long step, long chunk, long* first,
                                                        long* last) {
  const long beyond = step > 0 ? step - 1 : step + 1;
  const long trips = std::max(0L, (end - start + beyond) / step);
  regions.loop = {start, step, trips, chunk, 0};
  return regions.loop.next(first, last);
}

ACL_FUNC_VISIBILITY bool softnpu_GOMP_loop_static_next(long* first, long* last) {
  return regions.loop.next(first, last);
}

ACL_FUNC_VISIBILITY void softnpu_GOMP_loop_end_nowait() {}

ACL_FUNC_VISIBILITY int softnpu_omp_get_max_threads() { return regions.threads; }
ACL_FUNC_VISIBILITY int softnpu_omp_get_num_threads() { return this_slot().count; }
ACL_FUNC_VISIBILITY int softnpu_omp_get_thread_num() { return this_slot().number; }
ACL_FUNC_VISIBILITY int softnpu_omp_in_parallel() { return this_slot().in_region; }

}  // extern "C"
