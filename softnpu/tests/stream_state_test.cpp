// Stream settings and queries: priorities, failure modes, aborts, values in memory, failed tasks.

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

class StreamStateTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }

  static aclError fail(aclrtStream stream) {
    const softnpuTask task =
        make_task("fails", 0, [](void*, char*, size_t) -> aclError { return ACL_ERROR_RT_AICORE_EXCEPTION; });
    return softnpuLaunch(stream, &task);
  }

  aclrtStream stream_ = nullptr;
};

TEST_F(StreamStateTest, MoreUrgentStreamRunsFirst) {
  aclrtStream low = nullptr;
  aclrtStream high = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&low, 7, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStreamWithConfig(&high, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC), ACL_SUCCESS);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream_), ACL_SUCCESS);
  blocking.wait_until_it_runs();
  std::vector<int> order;
  auto late = [&] { order.push_back(7); };
  auto early = [&] { order.push_back(0); };
  ASSERT_EQ(launch(low, late), ACL_SUCCESS);
  ASSERT_EQ(launch(high, early), ACL_SUCCESS);
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{0, 7}));
  EXPECT_EQ(aclrtCreateStreamWithConfig(&low, 8, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&low, 0, 1U << 20), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamStateTest, StopOnFailureRunsNothingUntilTheErrorIsFetched) {
  int runs = 0;
  auto count = [&] { ++runs; };
  ASSERT_EQ(fail(stream_), ACL_SUCCESS);
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(runs, 1);  // ACL_CONTINUE_ON_FAILURE is the default
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  ASSERT_EQ(fail(stream_), ACL_SUCCESS);
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(runs, 1);
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 2), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamStateTest, AbortDropsPendingTasksAndReportsIt) {
  BlockingTask blocking;
  int runs = 0;
  auto count = [&] { ++runs; };
  ASSERT_EQ(blocking.launch(stream_), ACL_SUCCESS);
  blocking.wait_until_it_runs();
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  blocking.release();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
  EXPECT_EQ(runs, 0);
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(runs, 1);
}

// Whether the executor has not begun the wait, is about to park the stream or has parked it.
TEST_F(StreamStateTest, DestructionByForceEndsAWaitAtAnyMoment) {
  void* value = nullptr;
  ASSERT_EQ(aclrtMalloc(&value, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(value, uint64_t{0});
  for (int moment = 0; moment < 500; ++moment) {
    aclrtStream waiting = nullptr;
    ASSERT_EQ(aclrtCreateStream(&waiting), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, waiting), ACL_SUCCESS);
    std::this_thread::sleep_for(std::chrono::nanoseconds(moment * 40));
    ASSERT_EQ(aclrtDestroyStreamForce(waiting), ACL_SUCCESS);
  }
}

TEST_F(StreamStateTest, DeviceAbortReachesEveryStream) {
  void* value = nullptr;
  ASSERT_EQ(aclrtMalloc(&value, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(value, uint64_t{0});
  ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  BlockingTask blocking;
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(blocking.launch(other), ACL_SUCCESS);
  blocking.wait_until_it_runs();
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 1), ACL_ERROR_RT_WAIT_TIMEOUT);
  blocking.release();
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_DEVICE_TASK_ABORT);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);  // none of its work was dropped
  int runs = 0;
  auto count = [&] { ++runs; };
  ASSERT_EQ(launch(stream_, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(aclrtDeviceTaskAbort(99, 0), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(StreamStateTest, ValuesInMemoryOrderStreams) {
  aclrtStream writer = nullptr;
  ASSERT_EQ(aclrtCreateStream(&writer), ACL_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 16, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  struct Case {
    uint32_t flag;
    uint64_t before, wanted, after;
  };
  for (const Case& c :
       {Case{ACL_STREAM_WAIT_VALUE_GEQ, 3, 5, 9}, Case{ACL_STREAM_WAIT_VALUE_EQ, 9, 5, 5},
        Case{ACL_STREAM_WAIT_VALUE_AND, 2, 5, 4}, Case{ACL_STREAM_WAIT_VALUE_NOR, UINT64_MAX, 5, UINT64_MAX - 2}}) {
    upload(memory, c.before);
    std::vector<int> order;
    auto written = [&] { order.push_back(1); };
    auto waited = [&] { order.push_back(2); };
    ASSERT_EQ(aclrtValueWait(memory, c.wanted, c.flag, stream_), ACL_SUCCESS);
    ASSERT_EQ(launch(stream_, waited), ACL_SUCCESS);
    ASSERT_EQ(launch(writer, written), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWrite(memory, c.after, 0, writer), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(order, (std::vector<int>{1, 2})) << c.flag;
    EXPECT_EQ(download<uint64_t>(memory), c.after);
  }
  EXPECT_EQ(aclrtValueWait(memory, 1, 9, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtValueWrite(memory, 1, 9, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtValueWrite(static_cast<char*>(memory) + 1, 1, 0, stream_), ACL_ERROR_RT_ADDR_UNALIGNED);
  EXPECT_EQ(aclrtValueWrite(static_cast<char*>(memory) + 16, 1, 0, stream_), ACL_ERROR_RT_PARAM_INVALID);
  uint64_t host = 0;
  EXPECT_EQ(aclrtValueWait(&host, 1, 0, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(StreamStateTest, FreedMemoryEndsAWaitForItsValue) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(memory, uint64_t{0});
  ASSERT_EQ(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent_error().find("no live allocation"), std::string::npos);
}

TEST_F(StreamStateTest, ExceptionCallbackIdentifiesTheFailedTask) {
  static std::array<uint32_t, 5> seen;
  seen = {};
  ASSERT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo* info) {
              seen = {aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
                      aclrtGetThreadIdFromExceptionInfo(info), aclrtGetDeviceIdFromExceptionInfo(info),
                      aclrtGetErrorCodeFromExceptionInfo(info)};
            }),
            ACL_SUCCESS);
  int32_t id = -1;
  ASSERT_EQ(aclrtStreamGetId(stream_, &id), ACL_SUCCESS);
  auto nothing = [] {};
  ASSERT_EQ(launch(stream_, nothing), ACL_SUCCESS);
  ASSERT_EQ(fail(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string message = recent_error();
  ASSERT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], static_cast<uint32_t>(id));
  EXPECT_NE(seen[2], 0u);
  EXPECT_EQ(seen[3], 0u);
  EXPECT_EQ(seen[4], static_cast<uint32_t>(ACL_ERROR_RT_AICORE_EXCEPTION));
  EXPECT_NE(message.find("fails on stream"), std::string::npos);
  EXPECT_NE(message.find("task 1, launched by thread " + std::to_string(seen[2])), std::string::npos);
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), UINT32_MAX);
}

TEST_F(StreamStateTest, TheLastErrorIsKeptForItsThread) {
  (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtStreamAbort(this), ACL_ERROR_RT_STREAM_CONTEXT);
  std::thread([] { EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS); }).join();
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(StreamStateTest, AttributesAreCheckedByKind) {
  aclrtStreamAttrValue value{};
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_SUCCESS);
  value.failureMode = 5;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_ERROR_INVALID_PARAM);
  value.overflowSwitch = 1;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value), ACL_SUCCESS);
  uint32_t flag = 0;
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream_, &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 1u);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(99), &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_USER_CUSTOM_TAG, nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
