// Order under load: 8 threads with 4 streams each, on two devices, pass numbers to each other through events.

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "make_task.h"
#include "sanitizers.h"
#include "softnpu/softnpu.h"

namespace {

using OrderTest = AclTest;

constexpr int kThreads = 8;
constexpr int kLanes = 4;  // per thread
constexpr int kTasks = by_build(100'000, 10'000);
constexpr int kPosts = 1024;

// A stream. Only its tasks access `done`, without a lock: the stream's order protects it.
struct Lane {
  aclrtStream stream = nullptr;
  size_t device = 0;
  int done = 0;
  int out_of_order = 0;
};

// A number that a task of one lane writes and, after an event, a task of another reads, once each in turn.
struct Post {
  enum State { kFree, kTaken, kReady };
  std::atomic<State> state{kFree};
  std::array<aclrtEvent, 2> events{};  // one per device, since a context records its own
  aclrtEvent recorded = nullptr;       // one of them
  uint64_t value = 0;                  // accessed by tasks only: the event protects it
  uint64_t expected = 0;

  bool take(State from) { return state.compare_exchange_strong(from, kTaken, std::memory_order_acquire); }
};

std::atomic<int> wrong_numbers{0};
std::atomic<int> numbers_read{0};

struct Step {
  enum Kind { kPlain, kWrite, kRead };
  Lane* lane;
  int number;
  Kind kind = kPlain;
  Post* post = nullptr;
  uint64_t value = 0;

  void run() const {
    if (lane->done != number) ++lane->out_of_order;
    ++lane->done;
    if (kind == kWrite) post->value = value;
    if (kind != kRead) return;
    if (post->value != post->expected) ++wrong_numbers;
    ++numbers_read;
    post->state.store(Post::kFree, std::memory_order_release);
  }
};

void launch(const Step& step, bool small) {
  softnpuTask task = make_task(
      "step", small ? 1 : 0,
      [](void* state, char*, size_t) -> aclError {
        static_cast<Step*>(state)->run();
        return ACL_SUCCESS;
      },
      std::make_unique<Step>(step).release(), [](void* state) { delete static_cast<Step*>(state); });
  ASSERT_EQ(softnpuLaunch(step.lane->stream, &task), ACL_SUCCESS);
}

void submit(Step step, std::array<Post, kPosts>& posts, std::mt19937& random) {
  const unsigned dice = random() % 16;
  Post& post = posts[random() % kPosts];
  if (dice == 0 && post.take(Post::kFree)) {
    step.kind = Step::kWrite;
    step.post = &post;
    step.value = post.expected = random();
    launch(step, random() % 2 == 0);
    post.recorded = post.events[step.lane->device];
    ASSERT_EQ(aclrtRecordEvent(post.recorded, step.lane->stream), ACL_SUCCESS);
    post.state.store(Post::kReady, std::memory_order_release);
  } else if (dice == 1 && post.take(Post::kReady)) {
    step.kind = Step::kRead;
    step.post = &post;
    ASSERT_EQ(aclrtStreamWaitEvent(step.lane->stream, post.recorded), ACL_SUCCESS);
    launch(step, random() % 2 == 0);
  } else {
    launch(step, random() % 2 == 0);
  }
}

TEST_F(OrderTest, OrderHoldsUnderLoad) {
  std::array<Post, kPosts> posts;
  for (int32_t device : {1, 0}) {
    ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    for (Post& post : posts) {
      ASSERT_EQ(aclrtCreateEventExWithFlag(&post.events[static_cast<size_t>(device)], ACL_EVENT_SYNC), ACL_SUCCESS);
    }
  }
  std::array<std::array<Lane, kLanes>, kThreads> lanes;
  for (auto& own : lanes) {
    for (int i = 0; i < kLanes; ++i) {
      Lane& lane = own[static_cast<size_t>(i)];
      lane.device = static_cast<size_t>(i % 2);
      ASSERT_EQ(aclrtSetDevice(i % 2), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateStream(&lane.stream), ACL_SUCCESS);
    }
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int number = 0; number < kTasks; ++number) {
        for (Lane& lane : lanes[t]) submit({&lane, number}, posts, random);
      }
      for (Lane& lane : lanes[t]) EXPECT_EQ(aclrtSynchronizeStream(lane.stream), ACL_SUCCESS);
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& own : lanes) {
    for (Lane& lane : own) {
      EXPECT_EQ(lane.done, kTasks);
      EXPECT_EQ(lane.out_of_order, 0);
      EXPECT_EQ(aclrtDestroyStream(lane.stream), ACL_SUCCESS);
    }
  }
  EXPECT_EQ(wrong_numbers, 0);
  EXPECT_GT(numbers_read, 0);
  for (Post& post : posts) {
    for (aclrtEvent event : post.events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
  EXPECT_EQ(softnpuReleaseDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

// The second record is reached first. Waiters for the first one must not continue then.
TEST_F(OrderTest, ARecordIsNotCompletedByALaterOneElsewhere) {
  std::atomic<bool> may_go_on{false};
  std::atomic<bool> too_early{false};
  std::pair<std::atomic<bool>*, std::atomic<bool>*> state{&may_go_on, &too_early};
  auto release = [](void*) {};
  softnpuTask looks = make_task(
      "looks", 0,
      [](void* s, char*, size_t) -> aclError {
        auto* own = static_cast<decltype(state)*>(s);
        if (!*own->first) *own->second = true;
        return ACL_SUCCESS;
      },
      &state, release);
  aclrtStream slow = nullptr;
  aclrtStream quick = nullptr;
  aclrtStream waits = nullptr;
  aclrtEvent event = nullptr;
  void* value = nullptr;
  for (aclrtStream* stream : {&slow, &quick, &waits}) ASSERT_EQ(aclrtCreateStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&value, sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(value, uint64_t{0});
  ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, slow), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, slow), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waits, event), ACL_SUCCESS);
  ASSERT_EQ(softnpuLaunch(waits, &looks), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, quick), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(quick), ACL_SUCCESS);
  // Queued after the waiting stream, had the second record woken it.
  softnpuTask passes = make_task(
      "passes", 0, [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; }, nullptr, release);
  ASSERT_EQ(softnpuLaunch(quick, &passes), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(quick), ACL_SUCCESS);
  may_go_on = true;
  ASSERT_EQ(aclrtValueWrite(value, 1, 0, quick), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waits), ACL_SUCCESS);
  EXPECT_FALSE(too_early);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(value), ACL_SUCCESS);
}

}  // namespace
