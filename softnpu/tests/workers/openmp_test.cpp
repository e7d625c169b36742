// The OpenMP functions that oneDNN calls, called as by a compiler.

#include "workers/openmp.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include "workers/workers.h"

extern "C" {
void softnpu_GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads);
void softnpu_GOMP_parallel_end();
void softnpu_GOMP_barrier();
bool softnpu_GOMP_loop_static_start(long start, long end, long step, long chunk, long* first, long* last);
bool softnpu_GOMP_loop_static_next(long* first, long* last);
void softnpu_GOMP_loop_end_nowait();
int softnpu_omp_get_max_threads();
int softnpu_omp_get_num_threads();
int softnpu_omp_get_thread_num();
int softnpu_omp_in_parallel();
}

namespace {

constexpr int kThreads = 3;

// #pragma omp parallel num_threads(threads)
template <typename Body>
void region(unsigned threads, Body body) {
  const auto call = [](void* data) { (*static_cast<Body*>(data))(); };
  softnpu_GOMP_parallel_start(call, &body, threads);
  call(&body);
  softnpu_GOMP_parallel_end();
}

TEST(OpenMp, ARegionHasItsThreads) {
  EXPECT_EQ(softnpu_omp_in_parallel(), 0);
  EXPECT_EQ(softnpu_omp_get_num_threads(), 1);
  std::array<std::atomic<int>, kThreads> runs{};
  region(kThreads, [&] {
    EXPECT_EQ(softnpu_omp_get_num_threads(), kThreads);
    EXPECT_EQ(softnpu_omp_in_parallel(), 1);
    ++runs[softnpu_omp_get_thread_num()];
  });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_EQ(softnpu_omp_in_parallel(), 0);
}

TEST(OpenMp, ARegionWithoutANumberHasTheThreadsThatWereSet) {
  const int before = softnpu::exchange_openmp_threads(2);
  EXPECT_EQ(softnpu_omp_get_max_threads(), 2);
  std::atomic<int> runs{0};
  region(0, [&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(softnpu::exchange_openmp_threads(before), 2);
}

TEST(OpenMp, ARegionWithinAnotherHasOneThread) {
  std::atomic<int> inner{0};
  region(kThreads, [&] {
    const int outer = softnpu_omp_get_thread_num();
    region(kThreads, [&] {
      EXPECT_EQ(softnpu_omp_get_num_threads(), 1);
      EXPECT_EQ(softnpu_omp_get_thread_num(), 0);
      region(kThreads, [&] { ++inner; });
      EXPECT_EQ(softnpu_omp_get_num_threads(), 1);
    });
    EXPECT_EQ(softnpu_omp_get_num_threads(), kThreads);
    EXPECT_EQ(softnpu_omp_get_thread_num(), outer);
  });
  EXPECT_EQ(inner, kThreads);
}

TEST(OpenMp, ABarrierHoldsAllThreads) {
  ASSERT_TRUE(softnpu::reserve_workers(kThreads - 1));
  std::atomic<int> arrived{0};
  region(kThreads, [&] {
    ++arrived;
    softnpu_GOMP_barrier();
    EXPECT_EQ(arrived, kThreads);
  });
  softnpu_GOMP_barrier();  // the single thread outside of regions
}

// for (long i = start; i != end; i += step), by chunks; counts the executions of each i.
std::vector<int> times(long start, long end, long step, long chunk) {
  std::vector<std::atomic<int>> seen(64);
  region(kThreads, [&] {
    long first = 0;
    long last = 0;
    for (bool more = softnpu_GOMP_loop_static_start(start, end, step, chunk, &first, &last); more;
         more = softnpu_GOMP_loop_static_next(&first, &last)) {
      for (long i = first; step > 0 ? i < last : i > last; i += step) ++seen[i];
    }
    softnpu_GOMP_loop_end_nowait();
  });
  return {seen.begin(), seen.end()};
}

TEST(OpenMp, StaticLoopRunsEachIterationOnce) {
  for (const long chunk : {0L, 1L, 4L, 100L}) {
    for (const long step : {1L, 3L, -1L, -4L}) {
      for (const long span : {0L, 1L, 2L, 37L}) {
        const long start = step > 0 ? 5 : 50;
        const long end = start + (step > 0 ? span : -span);
        std::vector<int> expected(64);
        for (long i = start; step > 0 ? i < end : i > end; i += step) ++expected[i];
        EXPECT_EQ(times(start, end, step, chunk), expected) << chunk << ' ' << step << ' ' << span;
      }
    }
  }
}

}  // namespace
