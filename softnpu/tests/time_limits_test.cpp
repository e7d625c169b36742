#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_mdl.h"
#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

constexpr uint64_t kShortUs = 20'000;

// A blocking task on its own stream, under a limit, which is removed afterwards.
class TimeLimitsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&busy_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
  }
  void TearDown() override {
    limit_execution(0);
    EXPECT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(busy_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(other_), ACL_SUCCESS);
    AclTest::TearDown();
  }
  static void limit_execution(uint64_t us) {
    uint64_t actual = 1;
    EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(us, &actual), ACL_SUCCESS);
    EXPECT_EQ(actual, us);
  }
  // Starts the blocking task and waits until it is overdue.
  void run_overdue() {
    ASSERT_EQ(blocking_.launch(busy_), ACL_SUCCESS);
    blocking_.wait_until_it_runs();
    limit_execution(kShortUs);
    ASSERT_EQ(aclrtSynchronizeStream(busy_), ACL_ERROR_RT_AICORE_TIMEOUT);
  }

  BlockingTask blocking_;
  aclrtStream busy_ = nullptr;
  aclrtStream other_ = nullptr;
};

TEST_F(TimeLimitsTest, AWaitForAnOverdueOperatorFailsAndNamesIt) {
  run_overdue();
  const std::string message = recent_error();
  EXPECT_NE(message.find("blocking on stream"), std::string::npos) << message;
  EXPECT_NE(message.find("longer than 20000 us (aclrtSetOpExecuteTimeOut)"), std::string::npos) << message;
  // Every wait fails, also one with its own time-out.
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(busy_, 1000), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_TIMEOUT);
  blocking_.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
}

TEST_F(TimeLimitsTest, OtherStreamsContinueAndTheStreamKeepsItsOrder) {
  std::vector<int> order;
  run_overdue();
  limit_execution(0);  // does not change what was found overdue
  auto behind = [&] { order.push_back(1); };
  auto beside = [&] { order.push_back(2); };
  ASSERT_EQ(launch(busy_, behind), ACL_SUCCESS);
  ASSERT_EQ(launch(other_, beside), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(order, std::vector<int>{2});
  blocking_.release();
  ASSERT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST_F(TimeLimitsTest, EventsAndStreamsBehindTheOperatorFailToo) {
  aclrtEvent event = nullptr;
  aclrtEvent later = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&later), ACL_SUCCESS);
  ASSERT_EQ(blocking_.launch(busy_), ACL_SUCCESS);
  blocking_.wait_until_it_runs();
  ASSERT_EQ(aclrtRecordEvent(event, busy_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(later, other_), ACL_SUCCESS);
  limit_execution(kShortUs);
  EXPECT_EQ(aclrtSynchronizeEvent(later), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_NE(recent_error().find("blocking on stream"), std::string::npos);
  blocking_.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeEvent(later), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(later), ACL_SUCCESS);
}

// Of a captured graph.
class ReplayLimitsTest : public TimeLimitsTest {
 protected:
  template <typename Capture>
  void capture(const Capture& tasks) {
    ASSERT_EQ(aclmdlRICaptureBegin(busy_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    tasks();
    ASSERT_EQ(aclmdlRICaptureEnd(busy_, &model_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
    TimeLimitsTest::TearDown();
  }
  aclmdlRI model_ = nullptr;
};

TEST_F(ReplayLimitsTest, TheLimitCountsForEachOperator) {
  constexpr int kOperators = 15;
  constexpr std::chrono::milliseconds kEach(100);
  int ran = 0;
  auto slow = [&] {
    std::this_thread::sleep_for(kEach);
    ++ran;
  };
  capture([&] {
    for (int i = 0; i < kOperators; ++i) ASSERT_EQ(launch(busy_, slow), ACL_SUCCESS);
  });
  limit_execution(10 * std::chrono::microseconds(kEach).count());
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, busy_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
  EXPECT_EQ(ran, kOperators);
}

TEST_F(ReplayLimitsTest, AnOverdueOperatorIsFound) {
  capture([&] { ASSERT_EQ(blocking_.launch(busy_), ACL_SUCCESS); });
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, busy_), ACL_SUCCESS);
  blocking_.wait_until_it_runs();
  limit_execution(kShortUs);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_ERROR_RT_AICORE_TIMEOUT);
  blocking_.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
}

TEST_F(TimeLimitsTest, SubmittingFarAheadOfAnOverdueOperatorFails) {
  run_overdue();
  auto nothing = [] {};
  aclError code = ACL_SUCCESS;
  for (int i = 0; i < 5000 && code == ACL_SUCCESS; ++i) code = launch(busy_, nothing);
  EXPECT_EQ(code, ACL_ERROR_RT_AICORE_TIMEOUT);
  blocking_.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
}

TEST_F(TimeLimitsTest, SeveralOperatorsMayBeOverdue) {
  BlockingTask second;
  run_overdue();
  ASSERT_EQ(second.launch(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_ERROR_RT_AICORE_TIMEOUT);
  blocking_.release();
  second.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(TimeLimitsTest, TheErrorOfAnOverdueOperatorIsKept) {
  BlockingTask failing(ACL_ERROR_RT_INTERNAL_ERROR);
  ASSERT_EQ(failing.launch(busy_), ACL_SUCCESS);
  failing.wait_until_it_runs();
  limit_execution(kShortUs);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_ERROR_RT_AICORE_TIMEOUT);
  failing.release();
  limit_execution(0);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_ERROR_RT_INTERNAL_ERROR);
}

TEST_F(TimeLimitsTest, AnOperatorWithinItsLimitIsNoError) {
  limit_execution(3600'000'000);
  auto nothing = [] {};
  ASSERT_EQ(launch(busy_, nothing), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
  limit_execution(UINT64_MAX);  // no limit
  ASSERT_EQ(launch(busy_, nothing), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
}

TEST_F(TimeLimitsTest, OverlongStreamWaitFailsAndContinues) {
  std::promise<void> go;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  const auto function = [](void* promise) { static_cast<std::promise<void>*>(promise)->get_future().wait(); };
  ASSERT_EQ(aclrtLaunchHostFunc(other_, function, &go), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_WAIT_TIMEOUT);
  const std::string message = recent_error();
  EXPECT_NE(message.find("waits for aclrtLaunchHostFunc"), std::string::npos) << message;
  EXPECT_NE(message.find("(aclrtSetOpWaitTimeout)"), std::string::npos) << message;
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_WAIT_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(busy_), ACL_SUCCESS);
  go.set_value();
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

}  // namespace
