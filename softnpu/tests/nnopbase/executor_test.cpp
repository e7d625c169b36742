// Executors of test operators: their lifetime, failing launches, bad handles.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "nnopbase/errors.h"
#include "nnopbase/plan_operator.h"
#include "sanitizers.h"

namespace {

using softnpu::Plan;
using softnpu::Status;

class AclnnExecutorTest : public AclTest {
 protected:
  // Phase one of aclnnCount, whose run counts.
  aclOpExecutor* count(uint64_t workspace_bytes = 0, uint64_t* size = nullptr) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        softnpu::plan_operator("aclnnCount", &bytes, &executor, [this, workspace_bytes](Plan* plan) {
          plan->workspace_bytes = softnpu::checked(workspace_bytes);
          plan->work = 0;
          plan->run = [counter = counter_](void*) {
            ++*counter;
            return Status::ok();
          };
          return Status::ok();
        });
    EXPECT_EQ(status, ACLNN_SUCCESS) << recent_error();
    EXPECT_EQ(bytes, workspace_bytes);
    if (size != nullptr) *size = bytes;
    return executor;
  }

  static aclnnStatus launch(aclOpExecutor* executor, void* workspace = nullptr, uint64_t bytes = 0,
                            aclrtStream stream = nullptr) {
    return softnpu::launch_operator("aclnnCount", workspace, bytes, executor, stream);
  }

  static void expect_says(const char* reason) {
    const std::string message = recent_error();
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }

  int runs() {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    return *counter_;
  }

  std::shared_ptr<std::atomic<int>> counter_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(AclnnExecutorTest, ServesOneLaunch) {
  aclOpExecutor* first = count();
  EXPECT_EQ(launch(first), ACLNN_SUCCESS);
  aclOpExecutor* second = count();
  EXPECT_NE(second, first);  // even in the same memory: the dead handle stays dead
  EXPECT_EQ(launch(first), ACLNN_ERR_PARAM_INVALID);
  expect_says("one executor serves one launch");
  EXPECT_EQ(aclDestroyAclOpExecutor(first), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(first), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(launch(second), ACLNN_SUCCESS);
  EXPECT_EQ(runs(), 2);
  EXPECT_EQ(counter_.use_count(), 1);  // a used executor leaves nothing
}

TEST_F(AclnnExecutorTest, ForeignHandlesAreDetected) {
  int64_t memory[64] = {};
  aclOpExecutor* live = count();
  for (void* foreign : {static_cast<void*>(memory), reinterpret_cast<void*>(uintptr_t{1}),
                        reinterpret_cast<void*>(UINTPTR_MAX), static_cast<void*>(reinterpret_cast<char*>(live) + 1)}) {
    auto* executor = static_cast<aclOpExecutor*>(foreign);
    EXPECT_EQ(launch(executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
  }
  EXPECT_EQ(launch(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(live), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(live), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(counter_.use_count(), 1);
  EXPECT_EQ(runs(), 0);
}

TEST_F(AclnnExecutorTest, RefusedLaunchCanBeRepeated) {
  aclOpExecutor* executor = count(1000);
  EXPECT_EQ(softnpu::launch_operator("aclnnOther", nullptr, 0, executor, nullptr), ACLNN_ERR_PARAM_INVALID);
  expect_says("the executor was made by aclnnCountGetWorkspaceSize");
  void* workspace = nullptr;
  ASSERT_EQ(aclrtMalloc(&workspace, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(launch(executor, workspace, 999), ACLNN_ERR_PARAM_INVALID);
  expect_says("a workspace of 999 bytes, where 1000 are needed");
  EXPECT_EQ(launch(executor, nullptr, 1000), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(launch(executor, static_cast<char*>(workspace) + 1, 1000), ACLNN_ERR_PARAM_INVALID);
  expect_says("does not lie in one allocation");
  char host[1000];
  EXPECT_EQ(launch(executor, host, 1000), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(runs(), 0);
  EXPECT_EQ(launch(executor, workspace, 1000), ACLNN_SUCCESS);
  EXPECT_EQ(runs(), 1);
}

TEST_F(AclnnExecutorTest, LaunchOnUnknownStreamConsumesTheExecutor) {
  aclOpExecutor* executor = count();
  EXPECT_EQ(launch(executor, nullptr, 0, &counter_), softnpu::kLaunchError);
  EXPECT_EQ(counter_.use_count(), 1);
  EXPECT_EQ(launch(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(AclnnExecutorTest, RepeatableExecutorIsLaunchedUntilItIsDestroyed) {
  aclOpExecutor* executor = count();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(launch(executor), ACLNN_SUCCESS) << recent_error();
  EXPECT_EQ(softnpu::launch_operator("aclnnOther", nullptr, 0, executor, nullptr), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(runs(), 5);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(launch(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(counter_.use_count(), 1);
}

TEST_F(AclnnExecutorTest, RepeatableExecutorMayBeDestroyedWhileItsLaunchesWait) {
  std::atomic<bool> go{false};
  std::atomic<int> done{0};
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(softnpu::plan_operator("aclnnCount", &bytes, &executor,
                                   [&](Plan* plan) {
                                     plan->run = [&](void*) {
                                       while (!go) std::this_thread::yield();
                                       ++done;
                                       return Status::ok();
                                     };
                                     return Status::ok();
                                   }),
            ACLNN_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(launch(executor), ACLNN_SUCCESS);
  EXPECT_EQ(launch(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  go = true;
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(done, 2);
}

TEST_F(AclnnExecutorTest, FailedPlanLeavesNothing) {
  uint64_t bytes = 99;
  aclOpExecutor* executor = nullptr;
  const auto fails = [this](Plan* plan) -> Status {
    plan->run = [counter = counter_](void*) { return Status::ok(); };
    return {ACLNN_ERR_PARAM_INVALID, "no such size"};
  };
  EXPECT_EQ(softnpu::plan_operator("aclnnCount", &bytes, &executor, fails), ACLNN_ERR_PARAM_INVALID);
  expect_says("no such size");
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(bytes, 99);
  EXPECT_EQ(counter_.use_count(), 1);
  EXPECT_EQ(softnpu::plan_operator("aclnnCount", nullptr, &executor, fails), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(softnpu::plan_operator("aclnnCount", &bytes, nullptr, fails), ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(AclnnExecutorTest, FailedRunReportsItsDescription) {
  for (const bool throws : {false, true}) {
    Plan plan;
    plan.run = [throws](void*) -> Status {
      if (throws) throw std::runtime_error("thrown on purpose");
      return {softnpu::kOperatorError, "returned on purpose"};
    };
    plan.describe = [] { return std::string("(float32[2])"); };
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_TRUE(softnpu::make_executor("aclnnCount", std::move(plan), &bytes, &executor).is_ok());
    EXPECT_EQ(launch(executor), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), softnpu::kOperatorError);
    expect_says(throws ? "(float32[2]): thrown on purpose" : "(float32[2]): returned on purpose");
  }
}

TEST_F(AclnnExecutorTest, LongMessageIsTruncated) {
  Plan plan;
  plan.run = [](void*) -> Status { return {softnpu::kOperatorError, std::string(10'000, 'x')}; };
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_TRUE(softnpu::make_executor("aclnnCount", std::move(plan), &bytes, &executor).is_ok());
  EXPECT_EQ(launch(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), softnpu::kOperatorError);
  const std::string message = recent_error();
  const auto kept = std::ranges::count(message, 'x');
  EXPECT_GT(kept, 400) << message;
  EXPECT_LT(kept, 600) << message;
}

TEST_F(AclnnExecutorTest, OnlyOneOfTwoThreadsLaunches) {
  constexpr int kRounds = by_build(2000, 200);
  std::atomic<int> launched{0};
  for (int round = 0; round < kRounds; ++round) {
    aclOpExecutor* executor = count();
    const auto try_launch = [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      if (launch(executor) == ACLNN_SUCCESS) ++launched;
    };
    std::thread other(try_launch);
    try_launch();
    other.join();
  }
  EXPECT_EQ(launched, kRounds);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(*counter_, kRounds);
}

TEST_F(AclnnExecutorTest, ThreadsShareARepeatableExecutor) {
  constexpr int kLaunches = by_build(5000, 500);
  aclOpExecutor* executor = count();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int n = 0; n < kLaunches; ++n) ASSERT_EQ(launch(executor), ACLNN_SUCCESS) << recent_error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(*counter_, 3 * kLaunches);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

}  // namespace
