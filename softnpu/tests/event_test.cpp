#include "acl_fixture.h"

namespace {

using EventTest = AclTest;

TEST_F(EventTest, OrdersTwoStreams) {
  aclrtStream first = nullptr;
  aclrtStream second = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&second), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  constexpr size_t kBytes = size_t{16} << 20;
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int round = 1; round < 20; ++round) {
    ASSERT_EQ(aclrtMemsetAsync(block, kBytes, 0, kBytes, first), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block, kBytes, round, kBytes, second), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
    ASSERT_EQ(download<char>(static_cast<char*>(block) + kBytes - 1), round);
  }
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

}  // namespace
