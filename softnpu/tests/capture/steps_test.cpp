// Tasks of a captured graph that park the stream.

#include <atomic>
#include <chrono>
#include <thread>

#include "capture_fixture.h"
#include "softnpu/steps.h"

namespace {

class StepsTest : public CaptureTest {
 protected:
  // Notes `number` after `parks` parkings, each of which another thread ends, or at once.
  struct Work {
    StepsTest* test;
    int number;
    int parks;
    aclError failure = ACL_SUCCESS;
    std::thread waker;
  };

  static aclError step(void* state, softnpuTurn* turn, int32_t* again, char* message, size_t size) {
    auto& work = *static_cast<Work*>(state);
    if (work.waker.joinable()) work.waker.join();
    if (work.parks-- > 0) {
      *again = 1;
      if (work.parks % 2 == 0) {
        softnpuResume(turn);  // before the stream is parked
      } else {
        work.waker = std::thread([turn] {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          softnpuResume(turn);
        });
      }
      return ACL_SUCCESS;
    }
    work.test->ran_.push_back(work.number);
    if (work.failure != ACL_SUCCESS) std::string("it broke").copy(message, size - 1);
    return work.failure;
  }

  // Captures on `stream` steps that park `parks` times.
  aclError capture(aclrtStream stream, int number, int parks, aclError failure = ACL_SUCCESS) {
    softnpuCapturedSteps steps{};
    steps.name = "parking";
    steps.make = [](void* state, softnpuSteps* created, char* message, size_t size) -> aclError {
      const auto& origin = *static_cast<const Work*>(state);
      if (origin.test->refuses_) {
        std::string("not now").copy(message, size - 1);
        return ACL_ERROR_RT_PARAM_INVALID;
      }
      ++origin.test->created_;
      created->step = step;
      created->state =
          std::make_unique<Work>(Work{origin.test, origin.number, origin.parks, origin.failure, {}}).release();
      created->release = [](void* own) {
        const std::unique_ptr<Work> work(static_cast<Work*>(own));
        if (work->waker.joinable()) work->waker.join();
        ++work->test->ended_;
      };
      return ACL_SUCCESS;
    };
    steps.release = [](void* state) {
      const std::unique_ptr<Work> work(static_cast<Work*>(state));
      ++work->test->released_;
    };
    auto state = std::make_unique<Work>(Work{this, number, parks, failure, {}});
    steps.state = state.get();
    int32_t is_captured = 0;
    const aclError code = softnpuCaptureSteps(stream, &steps, &is_captured);
    is_captured_ = is_captured != 0;
    if (is_captured_) (void)state.release();
    return code;
  }

  bool is_captured_ = false;
  std::atomic<bool> refuses_{false};
  std::atomic<int> created_{0};
  std::atomic<int> ended_{0};
};

TEST_F(StepsTest, RunInOrderAtEachReplay) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 2, 3), ACL_SUCCESS);
  EXPECT_TRUE(is_captured_);
  ASSERT_EQ(note(3), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 4, 0), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 5, 1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(created_, 0);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
  ASSERT_EQ(note(6), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(created_, 6);
  EXPECT_EQ(ended_, 6);
  EXPECT_EQ(released_, 1);
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(released_, 6);
}

TEST_F(StepsTest, AreNotTakenOutsideOfACapture) {
  ASSERT_EQ(capture(stream_, 1, 0), ACL_SUCCESS);
  EXPECT_FALSE(is_captured_);
  EXPECT_EQ(released_, 0);
}

TEST_F(StepsTest, OtherStreamsRunWhileAReplayIsParked) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 1, 20), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 64, 1, 64, other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ran_, std::vector{1});
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(StepsTest, WhatDoesNotDependOnAParkedTaskRuns) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 1, 4), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(capture(other_, 3, 2), ACL_SUCCESS);
  ASSERT_EQ(note(4, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(join_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, join_), ACL_SUCCESS);
  ASSERT_EQ(note(5), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{3, 4, 1, 2, 5}));
}

TEST_F(StepsTest, AFailureNamesItsTaskAndTheOthersRun) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 2, 1, ACL_ERROR_RT_PARAM_INVALID), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 3, 1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_ERROR_RT_PARAM_INVALID);
  const std::string message = recent_error();
  EXPECT_NE(message.find("parking (task 1 of the captured graph): it broke"), std::string::npos) << message;
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
}

TEST_F(StepsTest, AReplayThatCannotBeMadeIsNotLaunched) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 2, 1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  refuses_ = true;
  EXPECT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_ERROR_RT_PARAM_INVALID);
  const std::string message = recent_error();
  EXPECT_NE(message.find("parking (task 1 of the captured graph): not now"), std::string::npos) << message;
  EXPECT_TRUE(ran_.empty());
  refuses_ = false;
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 2}));
}

TEST_F(StepsTest, AGraphWithStepsMayBePartOfAnother) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 1, 2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  aclmdlRI inner = model_;
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(inner, stream_), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroy(inner), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{0, 1, 2, 0, 1, 2}));
}

TEST_F(StepsTest, AParkedReplayIsDroppedWithItsStream) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(capture(stream_, 1, 2000), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_TRUE(ran_.empty());
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
}

}  // namespace
