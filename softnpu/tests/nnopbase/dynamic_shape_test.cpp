// Output sizes known only after the run, with a test operator.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "softnpu/tensor.h"

namespace {

using softnpu::Plan;
using softnpu::Status;

class DynamicShapeTest : public AclTest {
 protected:
  static aclTensor* make() {
    const int64_t most[] = {9, 2};
    return aclCreateTensor(most, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, most, 2, nullptr);
  }

  // Finds `found` rows after `go` is set.
  static void launch(aclTensor* out, int64_t found, const std::atomic<bool>& go) {
    Plan plan;
    plan.run = [shape = softnpu::shape_of(*out), found, &go](void*) {
      while (!go.load()) std::this_thread::yield();
      shape.set({found, 2});
      return Status::ok();
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_TRUE(softnpu::make_executor("aclnnFind", std::move(plan), &size, &executor).is_ok());
    ASSERT_TRUE(softnpu::launch_executor("aclnnFind", nullptr, 0, executor, nullptr).is_ok());
  }

  static std::vector<int64_t> shape(const aclTensor* tensor) {
    int64_t* dims = nullptr;
    uint64_t count = 0;
    EXPECT_EQ(aclGetViewShape(tensor, &dims, &count), ACLNN_SUCCESS);
    const std::unique_ptr<int64_t[]> owned(dims);
    return {dims, dims + count};
  }

  std::atomic<bool> go_{false};
};

TEST_F(DynamicShapeTest, IsKnownAfterTheStreamWasSynchronised) {
  aclTensor* out = make();
  launch(out, 4, go_);
  EXPECT_EQ(shape(out), (std::vector<int64_t>{9, 2}));
  go_ = true;
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(shape(out), (std::vector<int64_t>{4, 2}));
  launch(out, 0, go_);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(shape(out), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(DynamicShapeTest, TheTensorMayBeDestroyedBeforeTheRun) {
  aclTensor* out = make();
  launch(out, 4, go_);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
  aclTensor* next = make();  // usually in the same memory
  go_ = true;
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(shape(next), (std::vector<int64_t>{9, 2}));
  EXPECT_EQ(aclDestroyTensor(next), ACLNN_SUCCESS);
}

TEST_F(DynamicShapeTest, ReinitialisedTensorHasItsNewSizes) {
  aclTensor* out = make();
  go_ = true;
  launch(out, 4, go_);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  const int64_t dims[] = {5};
  ASSERT_EQ(softnpuInitTensor(out, dims, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(shape(out), std::vector<int64_t>{5});
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

}  // namespace
