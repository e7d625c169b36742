// Events of several processes, of which one is killed.

#include <chrono>
#include <thread>

#include "sharing/sharing_fixture.h"

namespace sharing {
namespace {

class SharedEventTest : public SharingTest {
 protected:
  void SetUp() override {
    SharingTest::SetUp();
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_IPC), ACL_SUCCESS);
    aclrtIpcEventHandle handle{};
    ASSERT_EQ(aclrtIpcGetEventHandle(event_, &handle), ACL_SUCCESS);
    handle_ = handle.reserved;
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    SharingTest::TearDown();
  }

  aclrtEvent event_ = nullptr;
  std::string handle_;
};

TEST_F(SharedEventTest, TheHostStopsWaitingForADeadRecorder) {
  OtherProcess other("recorder");
  ASSERT_EQ(other.ask("open-event " + handle_), "ok");
  ASSERT_EQ(other.ask("record-never"), "ok");
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEventStatus(event_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    other.kill();
  });
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_NE(recent_error().find("ended before"), std::string::npos) << recent_error();
  killer.join();
  EXPECT_EQ(aclrtQueryEventStatus(event_, &status), ACL_ERROR_RT_IPC_ERROR);
}

TEST_F(SharedEventTest, AStreamStopsWaitingForADeadRecorder) {
  OtherProcess other("recorder");
  ASSERT_EQ(other.ask("open-event " + handle_), "ok");
  ASSERT_EQ(other.ask("record-never"), "ok");
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream, event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  other.kill();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_IPC_ERROR);
  // Whoever waits only now learns it as well.
  ASSERT_EQ(aclrtStreamWaitEvent(stream, event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_IPC_ERROR);
  // The event itself is as good as before.
  ASSERT_EQ(aclrtRecordEvent(event_, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(SharedEventTest, ARecordThatWasReachedOutlivesItsProcess) {
  OtherProcess other("recorder");
  ASSERT_EQ(other.ask("open-event " + handle_), "ok");
  ASSERT_EQ(other.ask("record"), "ok");
  other.kill();
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
}

}  // namespace
}  // namespace sharing
