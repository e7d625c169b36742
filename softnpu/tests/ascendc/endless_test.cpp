// Kernels that never end.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

// Tells the kernel of a test, which is in this process, to end.
std::atomic<bool> may_end{false};
std::atomic<bool> has_begun{false};

struct None {};

class KernelEndless : public KernelTest {
 protected:
  void SetUp() override {
    const char* blocking = std::getenv("ASCEND_LAUNCH_BLOCKING");
    if (blocking != nullptr && blocking[0] == '1') GTEST_SKIP() << "a launch that waits never returns here";
    KernelTest::SetUp();
    may_end = false;
    has_begun = false;
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    ASSERT_EQ(aclrtSetOpExecuteTimeOut(0), ACL_SUCCESS);
    KernelTest::TearDown();
  }
  static void loop(const None&) {
    has_begun = true;
    while (!may_end.load(std::memory_order_relaxed)) {
    }
  }
  struct Loop {
    void operator()(const None& none) const { loop(none); }
  };
  struct Nothing {
    void operator()(const None&) const {}
  };

  aclrtStream stream_ = nullptr;
};

TEST_F(KernelEndless, OtherStreamsGoOn) {
  ASSERT_EQ((launch<None, Loop>("endless", 4, None{}, stream_)), ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(run("short", 4, None{}, Nothing()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  may_end = true;
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(KernelEndless, WaitsReturnTheTimeoutErrorOfTheLimit) {
  ASSERT_EQ((launch<None, Loop>("endless", 1, None{}, stream_)), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_TIMEOUT);
  const std::string text = recent_error();
  EXPECT_NE(text.find("endless on stream"), std::string::npos) << text;
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(0), ACL_SUCCESS);
  EXPECT_EQ(run("short", 1, None{}, Nothing()), ACL_SUCCESS);
  may_end = true;
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(KernelEndless, AResetOfTheDeviceStopsIt) {
  ASSERT_EQ((launch<None, Loop>("endless", 3, None{}, stream_)), ACL_SUCCESS);
  while (!has_begun) std::this_thread::yield();
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(run("short", 4, None{}, Nothing()), ACL_SUCCESS);
}

TEST_F(KernelEndless, TheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        if (launch<None, Loop>("endless", 3, None{}, stream_) == ACL_SUCCESS) {
          while (!has_begun) std::this_thread::yield();
          std::exit(7);
        }
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
