#include "nnopbase/executor.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "acl_fixture.h"
#include "nnopbase/errors.h"

namespace {

using softnpu::Plan;
using softnpu::Status;

class ExecutorTest : public AclTest {
 protected:
  // The stream's error after the launch of a plan that fails.
  static std::string failure(Plan plan) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_TRUE(softnpu::make_executor("aclnnTest", std::move(plan), &bytes, &executor).is_ok());
    EXPECT_TRUE(softnpu::launch_executor("aclnnTest", nullptr, 0, executor, nullptr).is_ok());
    EXPECT_NE(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    return recent_error();
  }
};

TEST_F(ExecutorTest, FailedRunReportsItsArgumentsAndLauncher) {
  Plan plan;
  plan.run = [](void*) { return Status(softnpu::kOperatorError, "no luck"); };
  plan.describe = [] { return std::string("(float32[2, 3])"); };
  const std::string message = failure(std::move(plan));
  EXPECT_NE(message.find("aclnnTest on stream"), std::string::npos) << message;
  EXPECT_NE(message.find("launched by thread"), std::string::npos) << message;
  EXPECT_NE(message.find("(float32[2, 3]): no luck [error 561000]"), std::string::npos) << message;
}

TEST_F(ExecutorTest, ExceptionIsAFailureWithItsMessage) {
  Plan plan;
  plan.run = [](void*) -> Status { throw std::runtime_error("thrown"); };
  EXPECT_NE(failure(std::move(plan)).find(": thrown [error 561000]"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(ExecutorTest, LongMessageIsTruncated) {
  Plan plan;
  plan.run = [](void*) { return Status(softnpu::kOperatorError, std::string(5000, 'x')); };
  const std::string message = failure(std::move(plan));
  const size_t end = message.find("x [error 561000]");
  ASSERT_NE(end, std::string::npos) << message;
  const size_t kept = end - message.find_last_not_of('x', end);
  EXPECT_GT(kept, 400U);
  EXPECT_LT(kept, 600U);
}

}  // namespace
