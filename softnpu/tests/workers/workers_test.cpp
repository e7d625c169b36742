#include "workers/workers.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "workers/parallel.h"

namespace {

using softnpu::fork_join;
using softnpu::ParallelRegion;
using softnpu::this_slot;

constexpr int kSlots = 4;

TEST(Workers, EachSlotRunsOnce) {
  for (int round = 0; round < 1000; ++round) {
    std::array<std::atomic<int>, kSlots> runs{};
    fork_join(kSlots, [&](int slot) {
      EXPECT_EQ(this_slot().number, slot);
      EXPECT_EQ(this_slot().count, kSlots);
      EXPECT_TRUE(this_slot().in_region);
      ++runs[slot];
    });
    for (const auto& count : runs) ASSERT_EQ(count, 1);
  }
  EXPECT_FALSE(this_slot().in_region);
}

// More slots than ranges of pieces, and ranges of different lengths.
TEST(Workers, EachPieceRunsOnce) {
  for (const int slots : {2, 3, 16, 17, 40}) {
    for (int64_t pieces = 2; pieces < 100; pieces += 7) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(pieces));
      softnpu::parallel_for(pieces, 1, slots, [&](int64_t first, int64_t last) {
        EXPECT_EQ(last, first + 1);
        ++runs[static_cast<size_t>(first)];
      });
      for (const auto& count : runs) ASSERT_EQ(count, 1) << slots << " slots, " << pieces << " pieces";
    }
  }
}

TEST(Workers, SeveralSubmittersShareWorkers) {
  std::atomic<int64_t> sum{0};
  const auto submit = [&] {
    for (int round = 0; round < 300; ++round) fork_join(kSlots, [&](int slot) { sum += slot; });
  };
  std::array submitters{std::thread(submit), std::thread(submit), std::thread(submit)};
  for (auto& submitter : submitters) submitter.join();
  EXPECT_EQ(sum, 3 * 300 * (0 + 1 + 2 + 3));
}

TEST(Workers, NestedRegionRunsOnTheSlotsThread) {
  std::array<std::array<std::atomic<int>, kSlots>, kSlots> runs{};
  fork_join(kSlots, [&](int outer) {
    const auto self = std::this_thread::get_id();
    fork_join(kSlots, [&](int inner) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(this_slot().number, inner);
      ++runs[outer][inner];
    });
    EXPECT_EQ(this_slot().number, outer);
  });
  for (const auto& of_slot : runs) {
    for (const auto& count : of_slot) EXPECT_EQ(count, 1);
  }
}

// All slots of a region are claimed before those of the next; otherwise two submitters would deadlock here.
TEST(Workers, SlotsMayWaitForEachOther) {
  ASSERT_TRUE(softnpu::reserve_workers(kSlots - 1));
  const auto submit = [] {
    for (int round = 0; round < 100; ++round) {
      std::array<int, kSlots> passed{};
      fork_join(kSlots, [&](int slot) {
        for (int phase = 1; phase <= 3; ++phase) {
          passed[slot] = phase;
          softnpu::this_region()->barrier();
          for (const int other : passed) EXPECT_EQ(other, phase);
          softnpu::this_region()->barrier();
        }
      });
    }
  };
  std::thread other(submit);
  submit();
  other.join();
}

TEST(ParallelFor, PiecesCoverTheRangeAndSlotsAreExclusive) {
  constexpr int64_t kCount = 1003;
  std::vector<int> taken(kCount);
  std::array<std::atomic<int>, kSlots> inside{};
  softnpu::parallel_for_slots(kCount, 10, kSlots, [&](int64_t first, int64_t last, int slot) {
    EXPECT_EQ(inside[slot]++, 0);
    for (int64_t i = first; i < last; ++i) ++taken[i];
    --inside[slot];
  });
  EXPECT_EQ(taken, std::vector<int>(kCount, 1));
}

TEST(ParallelFor, FirstExceptionIsThrownAtTheEnd) {
  std::atomic<int> pieces{0};
  const auto body = [&](int64_t first, int64_t) {
    ++pieces;
    if (first == 3) throw std::runtime_error("the third");
  };
  EXPECT_THROW(softnpu::parallel_for(64, 1, kSlots, body), std::runtime_error);
  EXPECT_EQ(pieces, 64);
}

}  // namespace
