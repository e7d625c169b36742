// What cannot be part of a capture, and what a refusal leaves.

#include <thread>

#include "capture_fixture.h"

namespace {

class RefusedTest : public CaptureTest {
 protected:
  // The capture fails at its end with `reason`, and everything is usable afterwards.
  void expect_failed(const std::string& reason) {
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT_EQ(note(2), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(model_, nullptr);
    const std::string message = recent_error();
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_TRUE(ran_.empty());
    expect_usable();
  }
  void SetUp() override {
    CaptureTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&device_, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(begin(), ACL_SUCCESS);
    ASSERT_EQ(note(1), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(device_), ACL_SUCCESS);
    CaptureTest::TearDown();
  }
  void* device_ = nullptr;
};

TEST_F(RefusedTest, WaitOfTheHost) {
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("a wait of the host");
}

TEST_F(RefusedTest, WaitForTheDevice) {
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("a wait of the host");
}

TEST_F(RefusedTest, Query) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("a query of the host");
}

TEST_F(RefusedTest, PageableCopy) {
  std::array<char, 64> host{};
  EXPECT_EQ(aclrtMemcpyAsync(host.data(), 64, device_, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
            ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("pageable memory");
}

TEST_F(RefusedTest, CopyOfTheHost) {
  std::array<char, 64> host{};
  EXPECT_EQ(aclrtMemcpy(host.data(), 64, device_, 64, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  expect_failed("aclrtMemcpy");
}

TEST_F(RefusedTest, FunctionOfTheHost) {
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) {}, nullptr),
            ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("aclrtLaunchHostFunc");
}

TEST_F(RefusedTest, WaitForAValue) {
  EXPECT_EQ(aclrtValueWait(device_, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("aclrtValueWait");
}

TEST_F(RefusedTest, EventsOfTheCaptureAskedByTheHost) {
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_EQ(aclrtQueryEventStatus(fork_, &recorded), ACL_ERROR_RT_EVENT_CAPTURED);
  EXPECT_EQ(aclrtSynchronizeEvent(fork_), ACL_ERROR_RT_EVENT_CAPTURED);
  expect_failed("was last recorded in a capture");
  EXPECT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_ERROR_RT_EVENT_CAPTURED);
  EXPECT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(fork_), ACL_SUCCESS);
}

TEST_F(RefusedTest, EventsFromBeforeTheCapture) {
  ASSERT_EQ(aclrtRecordEvent(fork_, other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, fork_), ACL_ERROR_RT_CAPTURE_DEPENDENCY);
  expect_failed("outside of the capture");
}

TEST_F(RefusedTest, EventsThatWereNeverRecordedAreComplete) {
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, fork_), ACL_SUCCESS);
  EXPECT_EQ(end(), ACL_SUCCESS);
}

TEST_F(RefusedTest, ExternalEventsThatProcessesShare) {
  aclrtEvent external = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&external, ACL_EVENT_EXTERNAL | ACL_EVENT_IPC), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(external, stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  expect_failed("an external event");
}

TEST_F(RefusedTest, StreamThatDoesNotComeBack) {
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_SUCCESS);
  ASSERT_EQ(note(2, other_), ACL_SUCCESS);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_UNJOINED);
  const std::string message = recent_error();
  EXPECT_NE(message.find("note runs there"), std::string::npos) << message;
  expect_usable();
}

TEST_F(RefusedTest, EventOfAnotherCapture) {
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(other_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
  EXPECT_EQ(aclmdlRICaptureEnd(other_, &model_), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, std::vector{1});
}

class MemoryTest : public CaptureTest {
 protected:
  aclError allocate() {
    void* result = nullptr;
    const aclError code = aclrtMalloc(&result, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code == ACL_SUCCESS) {
      EXPECT_EQ(aclrtFree(result), ACL_SUCCESS);
    }
    return code;
  }
  aclError allocate_elsewhere() {
    aclError code = ACL_SUCCESS;
    std::thread([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      code = allocate();
    }).join();
    return code;
  }
  aclError allocate_relaxed() {
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    const aclError code = allocate();
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    return code;
  }
};

TEST_F(MemoryTest, GlobalModeRefusesAllocationsOfAllThreads) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(allocate_relaxed(), ACL_SUCCESS);
  EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(allocate_elsewhere(), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_EQ(allocate(), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  const std::string message = recent_error();
  EXPECT_NE(message.find("an allocation of device memory"), std::string::npos) << message;
  EXPECT_EQ(allocate(), ACL_SUCCESS);
  expect_usable();
}

TEST_F(MemoryTest, ThreadLocalModeRefusesThoseOfItsThread) {
  ASSERT_EQ(begin(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), ACL_SUCCESS);
  EXPECT_EQ(allocate_elsewhere(), ACL_SUCCESS);
  EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(allocate(), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(MemoryTest, RelaxedModeAllowsAll) {
  ASSERT_EQ(begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(allocate(), ACL_SUCCESS);
  EXPECT_EQ(allocate_elsewhere(), ACL_SUCCESS);
  EXPECT_EQ(end(), ACL_SUCCESS);
}

using OrderTest = CaptureTest;

TEST_F(OrderTest, EndWithoutBegin) {
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  expect_usable();
}

TEST_F(OrderTest, BeginTwice) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(begin(), ACL_ERROR_RT_STREAM_CAPTURED);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  EXPECT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, std::vector{1});
}

TEST_F(OrderTest, EndOnAnotherStream) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureEnd(other_, &model_), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(), ACL_SUCCESS);
}

TEST_F(OrderTest, DestroyAndExecuteDuringTheCapture) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &model_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_ERROR_RT_MODEL_CAPTURED);
  EXPECT_EQ(aclmdlRIExecuteAsync(model_, other_), ACL_ERROR_RT_MODEL_CAPTURED);
  EXPECT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_ERROR_INVALID_PARAM);
}

TEST_F(OrderTest, TheDefaultStreamIsNotCaptured) {
  EXPECT_EQ(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
}

TEST_F(OrderTest, StreamsAreNotDestroyedInACapture) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &model_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_ERROR_INVALID_PARAM);  // it is gone with its capture
  EXPECT_EQ(aclrtMemset(nullptr, 0, 0, 0), ACL_SUCCESS);        // nothing captures any more
}

TEST_F(OrderTest, AResetDeviceHasNoModels) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(model_, nullptr), ACL_ERROR_RT_MODEL_CONTEXT);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
}

TEST_F(OrderTest, AResetDuringACapture) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(released_, 1);
  EXPECT_EQ(aclrtMemset(nullptr, 0, 0, 0), ACL_SUCCESS);
}

}  // namespace
