// External events in captured graphs: flags that replays and other streams set, clear and wait for.

#include <vector>

#include "capture_fixture.h"

namespace {

class ExternalEventTest : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    CaptureTest::TearDown();
  }

  aclrtEvent event_ = nullptr;
};

TEST_F(ExternalEventTest, EachReplayWaitsForARecord) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  for (int i = 0; i < 3; ++i) {
    ran_.clear();
    ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS) << recent_error();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ASSERT_EQ(aclrtRecordEvent(event_, other_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << recent_error();
    EXPECT_EQ(ran_, (std::vector{1, 2}));
  }
}

TEST_F(ExternalEventTest, AReplayRecordsForOtherStreams) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  for (int i = 0; i < 3; ++i) {
    ran_.clear();
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
    ASSERT_EQ(note(9, other_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS) << recent_error();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << recent_error();
    EXPECT_EQ(ran_, (std::vector{1, 9}));
    ASSERT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS);
  }
}

TEST_F(ExternalEventTest, TwoStreamsOfOneGraphMeet) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(note(2, other_), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtRecordEvent(join_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, join_), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, (std::vector{1, 2}));
}

}  // namespace
