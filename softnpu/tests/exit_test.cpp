// Functions of the program on softnpu's threads may end the process, with their own exit code.

#include <cstdlib>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

class ExitTest : public AclTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child is a separate process with its own threads
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }

  aclrtStream stream_ = nullptr;
};

TEST_F(ExitTest, AHostFunctionEndsTheProcess) {
  EXPECT_EXIT(
      {
        (void)aclrtLaunchHostFunc(
            stream_, [](void*) { std::exit(7); }, nullptr);
        (void)aclrtSynchronizeStream(stream_);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(ExitTest, ATaskEndsTheProcess) {
  EXPECT_EXIT(
      {
        auto end = [] { std::exit(7); };
        (void)launch(stream_, end);
        (void)aclrtSynchronizeStream(stream_);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(ExitTest, AnExceptionCallbackEndsTheProcess) {
  EXPECT_EXIT(
      {
        (void)aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { std::exit(7); });
        BlockingTask fails(ACL_ERROR_RT_INTERNAL_ERROR);
        fails.release();
        (void)fails.launch(stream_);
        (void)aclrtSynchronizeStream(stream_);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
