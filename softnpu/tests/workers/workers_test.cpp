#include "workers/workers.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "workers/parallel.h"

namespace {

using softnpu::share_work;
using softnpu::SharedWork;
using softnpu::this_seat;

constexpr int kSeats = 4;

TEST(Workers, EachSeatIsRunOnceByWhoeverComes) {
  for (int round = 0; round < 1000; ++round) {
    std::array<std::atomic<int>, kSeats> runs{};
    share_work(kSeats, [&](int seat) {
      EXPECT_EQ(this_seat().number, seat);
      EXPECT_EQ(this_seat().count, kSeats);
      EXPECT_TRUE(this_seat().within);
      ++runs[seat];
    });
    for (const auto& count : runs) ASSERT_EQ(count, 1);
  }
  EXPECT_FALSE(this_seat().within);
}

TEST(Workers, SeveralOpenersShareThem) {
  std::atomic<int64_t> sum{0};
  const auto open = [&] {
    for (int round = 0; round < 300; ++round) share_work(kSeats, [&](int seat) { sum += seat; });
  };
  std::array openers{std::thread(open), std::thread(open), std::thread(open)};
  for (auto& opener : openers) opener.join();
  EXPECT_EQ(sum, 3 * 300 * (0 + 1 + 2 + 3));
}

TEST(Workers, WorkWithinASeatIsTheSeatsOwn) {
  std::array<std::array<std::atomic<int>, kSeats>, kSeats> runs{};
  share_work(kSeats, [&](int outer) {
    const auto self = std::this_thread::get_id();
    share_work(kSeats, [&](int inner) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(this_seat().number, inner);
      ++runs[outer][inner];
    });
    EXPECT_EQ(this_seat().number, outer);
  });
  for (const auto& of_seat : runs) {
    for (const auto& count : of_seat) EXPECT_EQ(count, 1);
  }
}

// Each work has all its seats taken before the next one has any, or two openers would wait for each other here.
TEST(Workers, SeatsMayWaitForEachOther) {
  ASSERT_TRUE(softnpu::reserve_workers(kSeats - 1));
  const auto open = [] {
    for (int round = 0; round < 100; ++round) {
      std::array<int, kSeats> passed{};
      share_work(kSeats, [&](int seat) {
        for (int phase = 1; phase <= 3; ++phase) {
          passed[seat] = phase;
          softnpu::this_work()->barrier();
          for (const int other : passed) EXPECT_EQ(other, phase);
          softnpu::this_work()->barrier();
        }
      });
    }
  };
  std::thread other(open);
  open();
  other.join();
}

TEST(ParallelFor, PiecesCoverTheRangeAndSeatsAreNotShared) {
  constexpr int64_t kCount = 1003;
  std::vector<int> taken(kCount);
  std::array<std::atomic<int>, kSeats> inside{};
  softnpu::parallel_for_seats(kCount, 10, kSeats, [&](int64_t first, int64_t last, int seat) {
    EXPECT_EQ(inside[seat]++, 0);
    for (int64_t i = first; i < last; ++i) ++taken[i];
    --inside[seat];
  });
  EXPECT_EQ(taken, std::vector<int>(kCount, 1));
}

TEST(ParallelFor, TheFirstExceptionIsThrownWhenAllIsDone) {
  std::atomic<int> pieces{0};
  const auto body = [&](int64_t first, int64_t) {
    ++pieces;
    if (first == 3) throw std::runtime_error("the third");
  };
  EXPECT_THROW(softnpu::parallel_for(64, 1, kSeats, body), std::runtime_error);
  EXPECT_EQ(pieces, 64);
}

}  // namespace
