#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

using EventTest = AclTest;

// The first stream is held up: without the wait the second one would have finished its work before.
TEST_F(EventTest, OrdersTwoStreams) {
  aclrtStream first = nullptr;
  aclrtStream second = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&second), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  std::vector<int> order;
  auto on_first = [&] { order.push_back(1); };
  auto on_second = [&] { order.push_back(2); };
  BlockingTask holds;
  ASSERT_EQ(holds.launch(first), ACL_SUCCESS);
  ASSERT_EQ(launch(first, on_first), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
  ASSERT_EQ(launch(second, on_second), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(second, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  holds.release();
  ASSERT_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_F(EventTest, NeverRecordedIsComplete) {
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  ASSERT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_SUCCESS);
}

TEST_F(EventTest, MeasuresTime) {
  aclrtEvent start = nullptr;
  aclrtEvent end = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, size_t{8} << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(start, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block, size_t{8} << 20, 1, size_t{8} << 20, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(end, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GT(ms, 0);
}

TEST_F(EventTest, DestroyedWhileQueuedIsSafe) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, size_t{8} << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block, size_t{8} << 20, i, size_t{1} << 20, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    EXPECT_NE(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(EventTest, AResetEventCountsAsNotRecorded) {
  aclrtEvent event = nullptr;
  aclrtStream waiting = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&waiting), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(event, nullptr), ACL_SUCCESS);
  aclrtEventStatus status = ACL_EVENT_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEvent(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), ACL_SUCCESS);
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_NOT_READY);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(waiting), ACL_SUCCESS);
  ASSERT_EQ(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventTest, TimeStampsGoUp) {
  aclrtEvent first = nullptr;
  aclrtEvent second = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&first, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&second, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  uint64_t a = 0;
  uint64_t b = 0;
  EXPECT_EQ(aclrtEventGetTimestamp(first, &a), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  ASSERT_EQ(aclrtRecordEvent(first, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(second, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(second), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(first, &a), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(second, &b), ACL_SUCCESS);
  EXPECT_GT(a, 0u);
  EXPECT_LE(a, b);
}

TEST_F(EventTest, AnOpenedHandleIsTheSameEvent) {
  aclrtEvent event = nullptr;
  aclrtEvent opened = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC), ACL_SUCCESS);
  aclrtIpcEventHandle handle{};
  ASSERT_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_SUCCESS);
  ASSERT_EQ(aclrtIpcOpenEventHandle(handle, &opened), ACL_SUCCESS);
  aclrtStream recording = nullptr;
  aclrtStream waiting = nullptr;
  ASSERT_EQ(aclrtCreateStream(&recording), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&waiting), ACL_SUCCESS);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(recording), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, recording), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, opened), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEventStatus(opened, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeEvent(opened), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(waiting), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(opened), ACL_SUCCESS);  // it keeps the page of both alive
}

TEST_F(EventTest, BadHandlesAndFlagsAreErrors) {
  aclrtEvent event = nullptr;
  aclrtIpcEventHandle handle{};
  EXPECT_EQ(aclrtCreateEventWithFlag(&event, 1U << 30), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcOpenEventHandle(handle, &event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(event, nullptr);
  (std::string("softnpu-event-1-f-") + std::string(32, '0')).copy(handle.reserved, sizeof handle.reserved);
  EXPECT_EQ(aclrtIpcOpenEventHandle(handle, &event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent_error().find("process 1 cannot be reached"), std::string::npos);
  EXPECT_EQ(aclrtResetEvent(nullptr, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtQueryEventWaitStatus(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
