// The inline execution lock of a stream.

#include "runtime/stream/inline_gate.h"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <thread>

namespace {

using softnpu::InlineGate;

TEST(InlineGateTest, AtMostOneThreadIsInside) {
  InlineGate gate;
  EXPECT_TRUE(gate.idle());
  ASSERT_TRUE(gate.try_enter());
  EXPECT_FALSE(gate.idle());
  EXPECT_FALSE(gate.must_leave());
  EXPECT_FALSE(gate.try_enter());
  EXPECT_EQ(gate.count_run(), 0U);
  EXPECT_TRUE(gate.leave());
  EXPECT_TRUE(gate.idle());
  EXPECT_EQ(gate.runs(), 1U);
}

TEST(InlineGateTest, NoThreadEntersWhileTasksArePending) {
  InlineGate gate;
  gate.add_pending();
  gate.add_pending();
  EXPECT_FALSE(gate.try_enter());
  gate.remove_pending(1);
  EXPECT_FALSE(gate.try_enter());
  EXPECT_FALSE(gate.idle());
  gate.remove_pending(1);
  ASSERT_TRUE(gate.try_enter());
  gate.add_pending();
  EXPECT_TRUE(gate.must_leave());
  EXPECT_TRUE(gate.leave());
}

TEST(InlineGateTest, LeaveReportsAWaitingThread) {
  InlineGate gate;
  EXPECT_FALSE(gate.await_leave());  // no thread is inside
  ASSERT_TRUE(gate.try_enter());
  EXPECT_TRUE(gate.await_leave());
  EXPECT_TRUE(gate.await_leave());
  EXPECT_FALSE(gate.leave());
  ASSERT_TRUE(gate.try_enter());
  EXPECT_TRUE(gate.leave());
}

// Some threads enter and one queues. All modify a plain number, which only mutual exclusion keeps correct.
TEST(InlineGateTest, InlineAndQueuedTasksExcludeEachOther) {
  constexpr int kRounds = 20'000;
  InlineGate gate;
  std::mutex mutex;  // the stream's
  int number = 0;
  int entered = 0;
  const auto enter = [&] {
    for (int i = 0; i < kRounds; ++i) {
      if (!gate.try_enter()) continue;
      if (!gate.must_leave()) {
        ++number;
        ++entered;
      }
      static_cast<void>(gate.leave());
    }
  };
  const auto queue = [&] {
    for (int i = 0; i < kRounds; ++i) {
      const std::lock_guard lock(mutex);
      gate.add_pending();
      while (gate.await_leave()) std::this_thread::yield();
      ++number;
      gate.remove_pending(1);
    }
  };
  std::array threads{std::thread(enter), std::thread(enter), std::thread(queue)};
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number, entered + kRounds);
}

}  // namespace
