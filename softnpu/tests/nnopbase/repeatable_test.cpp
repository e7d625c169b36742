// Repeatable executors run again with other addresses, with a test operator defined like a generated one.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "nnopbase/plan_operator.h"
#include "softnpu/softnpu.h"

namespace {

using softnpu::not_null;
using softnpu::Plan;
using softnpu::Status;

float* memory(const aclTensor* tensor) {
  void* kernel = nullptr;
  const auto bytes = static_cast<size_t>(softnpu::element_count(*tensor)) * sizeof(float);
  auto* first = static_cast<float*>(tensor->data) + tensor->offset;
  return softnpuKernelAddress(first, bytes, &kernel) == ACL_SUCCESS ? static_cast<float*>(kernel) : nullptr;
}

// out = (self + the sum of others) * scale + the length of mode, for float32 of two elements.
Status plan_sum(const aclTensor* self, const aclTensorList* others, const aclScalar* scale, const aclIntArray* unused,
                const char* mode, bool fails, aclTensor* out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_null(self, "self"));
  SOFTNPU_RETURN_IF_ERROR(not_null(out, "out"));
  if (fails) return {ACLNN_ERR_PARAM_INVALID, "fails on purpose"};
  std::vector<const float*> from{memory(self)};
  for (size_t i = 0; others != nullptr && i < others->size(); ++i) {
    if ((*others)[i] != nullptr) from.push_back(memory((*others)[i]));
  }
  for (const float* address : from) SOFTNPU_RETURN_IF_ERROR(not_null(address, "an input's address"));
  float* to = memory(out);
  SOFTNPU_RETURN_IF_ERROR(not_null(to, "out's address"));
  const float factor = scale == nullptr ? 1 : scale->as_float();
  const auto added =
      static_cast<float>((mode == nullptr ? 0 : std::string(mode).size()) + (unused == nullptr ? 0 : unused->size()));
  plan->work = 0;
  plan->run = [=](void*) {
    for (int i = 0; i < 2; ++i) {
      float sum = 0;
      for (const float* address : from) sum += address[i];
      to[i] = sum * factor + added;
    }
    return Status::ok();
  };
  return Status::ok();
}

struct Call {
  const aclTensor* self = nullptr;
  const aclTensorList* others = nullptr;
  const aclScalar* scale = nullptr;
  const aclIntArray* numbers = nullptr;
  const char* mode = nullptr;
  bool fails = false;
  aclTensor* out = nullptr;
};

using Pair = std::array<float, 2>;

class RepeatableTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    for (void*& block : blocks_) ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      upload(blocks_[i], Pair{static_cast<float>(1 << i), static_cast<float>(100 << i)});
    }
  }

  static aclTensor* tensor(void* data, int64_t offset = 0) {
    const int64_t size = 2;
    return aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, offset, ACL_FORMAT_ND, &size, 1, data);
  }

  static aclnnStatus plan(const Call& c, aclOpExecutor** executor) {
    uint64_t bytes = 0;
    return softnpu::plan_operator("aclnnSum", &bytes, executor, plan_sum, c.self, c.others, c.scale, c.numbers, c.mode,
                                  c.fails, c.out);
  }

  static aclOpExecutor* repeatable(const Call& c) {
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(plan(c, &executor), ACLNN_SUCCESS) << recent_error();
    EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS) << recent_error();
    return executor;
  }

  // Launches once and returns the result at `out`.
  static Pair run(aclOpExecutor* executor, const void* out) {
    EXPECT_EQ(softnpu::launch_operator("aclnnSum", nullptr, 0, executor, nullptr), ACLNN_SUCCESS) << recent_error();
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    return download<Pair>(out);
  }

  static void expect_says(const char* reason) {
    const std::string message = recent_error();
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }

  std::array<void*, 6> blocks_{};  // number i contains 2^i and 100 * 2^i
};

TEST_F(RepeatableTest, RunsWithTheAddressesThatWereSet) {
  aclTensor* self = tensor(blocks_[0]);
  aclTensor* out = tensor(blocks_[5]);
  aclOpExecutor* executor = repeatable({.self = self, .out = out});
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{1, 100}));
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[1]), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{2, 200}));
  EXPECT_EQ(aclSetTensorAddr(executor, 0, out, blocks_[4]), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[2]), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[4]), (Pair{4, 400}));
  EXPECT_EQ(download<Pair>(blocks_[5]), (Pair{2, 200}));
  EXPECT_EQ(run(executor, blocks_[4]), (Pair{4, 400}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, TheOffsetCountsFromTheNewAddress) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(block, std::array<float, 4>{7, 8, 9, 10});
  aclTensor* self = tensor(blocks_[0], 1);
  aclTensor* out = tensor(blocks_[5]);
  aclOpExecutor* executor = repeatable({.self = self, .out = out});
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, block), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{8, 9}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, KeepsCopiesOfItsArguments) {
  aclTensor* self = tensor(blocks_[0]);
  aclTensor* out = tensor(blocks_[5]);
  const std::array<const aclTensor*, 3> elements{tensor(blocks_[1]), nullptr, tensor(blocks_[2])};
  aclTensorList* others = aclCreateTensorList(elements.data(), elements.size());
  float two = 2;
  aclScalar* scale = aclCreateScalar(&two, ACL_FLOAT);
  const int64_t number = 9;
  aclIntArray* numbers = aclCreateIntArray(&number, 1);
  std::string mode = "none";
  aclOpExecutor* executor = repeatable({self, others, scale, numbers, mode.c_str(), false, out});
  mode = "something else";
  EXPECT_EQ(aclDestroyScalar(scale), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(numbers), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{7 * 2 + 5, 1400 + 5}));
  EXPECT_EQ(aclSetDynamicTensorAddr(executor, 1, 2, others, blocks_[3]), ACLNN_SUCCESS) << recent_error();
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{(1 + 2 + 8) * 2 + 5, 2200 + 5}));
  EXPECT_EQ(aclSetDynamicTensorAddr(executor, 1, 0, others, blocks_[4]), ACLNN_SUCCESS) << recent_error();
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{(1 + 16 + 8) * 2 + 5, 5000 + 5}));
  EXPECT_EQ(aclSetDynamicTensorAddr(executor, 1, 1, others, blocks_[4]), ACLNN_ERR_PARAM_INVALID);
  expect_says("has no tensor at index 1");
  EXPECT_EQ(aclSetDynamicTensorAddr(executor, 1, 3, others, blocks_[4]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(others), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{(1 + 16 + 8) * 2 + 5, 5000 + 5}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, IndexSelectsAmongRepeatedTensors) {
  aclTensor* both = tensor(blocks_[0]);
  aclOpExecutor* executor = repeatable({.self = both, .out = both});
  EXPECT_EQ(aclSetTensorAddr(executor, 2, both, blocks_[2]), ACLNN_ERR_PARAM_INVALID);
  expect_says("is 2 of the arguments, and number 2 of the 2 tensors");
  EXPECT_EQ(aclSetTensorAddr(executor, 0, both, blocks_[2]), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[0]), (Pair{4, 400}));
  EXPECT_EQ(aclSetTensorAddr(executor, 1, both, blocks_[4]), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[4]), (Pair{4, 400}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(both), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, BadCallsAreStatuses) {
  aclTensor* self = tensor(blocks_[0]);
  aclTensor* out = tensor(blocks_[5]);
  aclTensor* stranger = tensor(blocks_[1]);
  aclTensor* dead = tensor(blocks_[1]);
  EXPECT_EQ(aclDestroyTensor(dead), ACLNN_SUCCESS);
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(plan({.self = self, .out = out}, &executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  expect_says("call aclSetAclOpExecutorRepeatable first");
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(nullptr, 0, self, blocks_[1]), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, nullptr, blocks_[1]), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, dead, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, stranger, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  expect_says("is not among the arguments");
  EXPECT_EQ(aclSetDynamicTensorAddr(executor, 0, 0, nullptr, blocks_[1]), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{1, 100}));
  // Planning detects an address that kernels may not access; setting another address recovers.
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, &executor), ACLNN_SUCCESS);
  EXPECT_EQ(softnpu::launch_operator("aclnnSum", nullptr, 0, executor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  expect_says("an input's address");
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[1]), ACLNN_SUCCESS);
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{2, 200}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  for (const aclTensor* result : {self, out, stranger}) EXPECT_EQ(aclDestroyTensor(result), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, DeadArgumentsNeverReachThePlanner) {
  aclTensor* self = tensor(blocks_[0]);
  aclTensor* out = tensor(blocks_[5]);
  aclTensor* dead = tensor(blocks_[1]);
  EXPECT_EQ(aclDestroyTensor(dead), ACLNN_SUCCESS);
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(plan({.self = dead, .out = out}, &executor), ACLNN_ERR_PARAM_INVALID);
  expect_says("argument 1 is no live object");
  EXPECT_EQ(plan({.self = self, .scale = reinterpret_cast<aclScalar*>(self), .out = out}, &executor),
            ACLNN_ERR_PARAM_INVALID);
  expect_says("argument 3 is no live object");
  const aclTensor* element = tensor(blocks_[1]);
  aclTensorList* list = aclCreateTensorList(&element, 1);
  EXPECT_EQ(aclDestroyTensor(element), ACLNN_SUCCESS);
  EXPECT_EQ(plan({.self = self, .others = list, .out = out}, &executor), ACLNN_ERR_PARAM_INVALID);
  expect_says("argument 2 is no live object");
  EXPECT_EQ(plan({.out = out}, &executor), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(plan({.self = self, .fails = true, .out = out}, &executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(executor, nullptr);

  ASSERT_EQ(plan({.self = self, .out = out}, &executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);
  expect_says("was destroyed before the executor was made repeatable");
  EXPECT_EQ(run(executor, blocks_[5]), (Pair{1, 100}));  // it can still be used once
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(RepeatableTest, OperatorWithoutAnArgumentPlannerReportsIt) {
  aclTensor* self = tensor(blocks_[0]);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  Plan plan;
  plan.run = [](void*) { return Status::ok(); };
  ASSERT_TRUE(softnpu::make_executor("aclnnSum", std::move(plan), &bytes, &executor).is_ok());
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  expect_says("aclnnSum cannot run with other addresses");
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
}

}  // namespace
