#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"
#include "softnpu/softnpu.h"

namespace {

using StreamTest = AclTest;

TEST_F(StreamTest, TasksRunInOrder) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  constexpr size_t kBytes = size_t{1} << 20;
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int value = 0; value < 200; ++value) {
    ASSERT_EQ(aclrtMemsetAsync(device, kBytes, value, kBytes, stream), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(download<unsigned char>(device), 199);
  EXPECT_EQ(download<unsigned char>(static_cast<char*>(device) + kBytes - 1), 199);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  ASSERT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamTest, NullIsTheDefaultStream) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 64, 5, 64, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(download<char>(device), 5);
}

TEST_F(StreamTest, DeadHandlesAreErrorsNotCrashes) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_NE(recent_error().find("does not exist"), std::string::npos);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
}

// Eight threads on one stream, each with its own block: every task must run, in its thread's order.
TEST_F(StreamTest, AcceptsTasksOfManyThreads) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::array<void*, 8> blocks{};
  for (void*& block : blocks) ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (void* block : blocks) {
    threads.emplace_back([=] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int value = 0; value <= 100; ++value) {
        ASSERT_EQ(aclrtMemsetAsync(block, 4096, value, 4096, stream), ACL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (void* block : blocks) EXPECT_EQ(download<char>(block), 100);
}

// Tasks that run inline on their callers' threads and tasks on the executor: never two at once, in the order of each
// thread, and all done when a wait returns. The counters are plain numbers: only the stream serialises them.
TEST_F(StreamTest, SmallAndLargeTasksOfManyThreadsNeverOverlap) {
  constexpr int kThreads = 6;
  constexpr int kTasks = 600;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  bool runs = false;
  int overlaps = 0;
  std::array<int, kThreads> done{};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      auto task = [&, thread] {
        overlaps += std::exchange(runs, true) ? 1 : 0;
        ++done[static_cast<size_t>(thread)];
        runs = false;
      };
      for (int i = 1; i <= kTasks; ++i) {
        ASSERT_EQ(launch(stream, task, (i + thread) % 5 != 0), ACL_SUCCESS);
        if (i % 7 != 0) continue;
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(done[static_cast<size_t>(thread)], i);
      }
      ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(overlaps, 0);
  for (int count : done) EXPECT_EQ(count, kTasks);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// The caller of a record may hold a lock that queued work needs, so that it must not wait for room in the queue.
TEST_F(StreamTest, EventRecordsFitBehindAFullQueue) {
  struct State {
    std::promise<void> may_go_on;
    std::atomic<int> runs{0};
  } state;
  softnpuTask waits = make_task(
      "waits", 0,
      [](void* s, char*, size_t) -> aclError {
        auto* own = static_cast<State*>(s);
        if (own->runs++ == 0) own->may_go_on.get_future().wait();
        return ACL_SUCCESS;
      },
      &state);
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  constexpr int kTasks = 1024;
  for (int i = 0; i < kTasks; ++i) ASSERT_EQ(softnpuLaunch(stream, &waits), ACL_SUCCESS);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  state.may_go_on.set_value();
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(state.runs, kTasks);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// A timed-out wait must not report errors of streams that it did not reach.
TEST_F(StreamTest, TimedOutWaitForTheDeviceKeepsErrors) {
  constexpr aclError kFailure = 161002;
  std::promise<void> may_go_on;
  std::shared_future<void> gate = may_go_on.get_future().share();
  softnpuTask waits = make_task(
      "waits", SOFTNPU_COST_LARGE,
      [](void* s, char*, size_t) -> aclError {
        static_cast<std::shared_future<void>*>(s)->wait();
        return ACL_SUCCESS;
      },
      &gate);
  softnpuTask fails = make_task("fails", SOFTNPU_COST_SMALL, [](void*, char*, size_t) -> aclError { return kFailure; });
  std::array<aclrtStream, 7> streams{};
  for (size_t i = 0; i < streams.size(); ++i) {
    ASSERT_EQ(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
    ASSERT_EQ(softnpuLaunch(streams[i], i == 3 ? &fails : &waits), ACL_SUCCESS);
  }
  const aclError first = aclrtSynchronizeDeviceWithTimeout(1);
  EXPECT_NE(first, ACL_SUCCESS);
  may_go_on.set_value();
  const aclError second = aclrtSynchronizeDevice();
  EXPECT_EQ((first == kFailure) + (second == kFailure), 1) << first << " " << second;
  for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// What runs ends; what waits behind it does not begin.
TEST_F(StreamTest, ForcedDestructionDropsPendingTasks) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  BlockingTask holds;
  std::atomic<int> ran = 0;
  auto counts = [&] { ++ran; };
  ASSERT_EQ(holds.launch(stream), ACL_SUCCESS);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(launch(stream, counts), ACL_SUCCESS);
  holds.wait_until_it_runs();
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    holds.release();
  });
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  releases.join();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(ran, 0);
}

}  // namespace
