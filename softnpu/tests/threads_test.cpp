// Launched work may use as many threads as its launching thread, even if another thread runs it.

#include "base/threads.h"

#include <thread>

#include "acl_fixture.h"
#include "blocking_task.h"
#include "nnopbase/executor.h"

namespace {

using softnpu::most_threads;
using softnpu::Plan;
using softnpu::Status;

class ThreadsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  // The thread limit of an operator on the executor's thread; `limit` was set at the launch and changed since.
  int seen_in_a_launch(uint32_t limit) {
    int seen = 0;
    BlockingTask blocking;
    EXPECT_EQ(blocking.launch(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, limit), ACL_SUCCESS);
    Plan plan;
    plan.run = [&seen](void*) {
      seen = most_threads();
      return Status::ok();
    };
    EXPECT_TRUE(softnpu::launch_plan("ThreadsTest", std::move(plan), stream_).is_ok());
    EXPECT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
    blocking.release();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    return seen;
  }

  aclrtStream stream_ = nullptr;
};

TEST_F(ThreadsTest, LaunchUsesItsLaunchersThreadLimit) {
  const int own = most_threads();
  EXPECT_GE(own, 1);
  EXPECT_EQ(seen_in_a_launch(static_cast<uint32_t>(own)), own);
  EXPECT_EQ(seen_in_a_launch(1), 1);
  EXPECT_EQ(most_threads(), own);
}

TEST_F(ThreadsTest, ThreadWithoutADeviceUsesOneThread) {
  int seen = 0;
  std::thread([&seen] { seen = most_threads(); }).join();
  EXPECT_EQ(seen, 1);
}

}  // namespace
