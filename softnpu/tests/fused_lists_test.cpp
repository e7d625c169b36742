// Fused operators on lists give the same bytes as unfused ones, for any order of tensors in the lists.

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_foreach_add_list_v2.h"
#include "aclnnop/aclnn_foreach_mul_list.h"
#include "aclnnop/aclnn_foreach_neg.h"
#include "blocking_task.h"

namespace {

constexpr size_t kLists = 4;
// Large tensors, small ones, and an empty one. Two have the same size: lists may have them in either order.
constexpr std::array<int64_t, 6> kCounts = {200'003, 7, 200'003, 0, 30'000, 1};

class FusedListsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (size_t list = 0; list < kLists; ++list) {
      for (size_t i = 0; i < kCounts.size(); ++i) {
        auto& values = start_[list][i];
        values.resize(static_cast<size_t>(kCounts[i]));
        for (float& value : values) value = uniform(random_);
        if (kCounts[i] == 0) continue;
        ASSERT_EQ(aclrtMalloc(&memory_[list][i], values.size() * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST),
                  ACL_SUCCESS);
      }
    }
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    float one = 1;
    one_ = aclCreateScalar(&one, ACL_FLOAT);
  }
  void TearDown() override {
    aclDestroyScalar(one_);
    for (auto& list : memory_) {
      for (void* memory : list) {
        if (memory != nullptr) aclrtFree(memory);
      }
    }
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  // `is_swapped`: exchanges the first tensor and the third.
  aclTensorList* tensors(size_t list, bool is_swapped) {
    std::vector<aclTensor*> all;
    for (size_t i = 0; i < kCounts.size(); ++i) {
      const size_t from = is_swapped && (i == 0 || i == 2) ? 2 - i : i;
      all.push_back(
          aclCreateTensor(&kCounts[i], 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCounts[i], 1, memory_[list][from]));
    }
    return aclCreateTensorList(all.data(), all.size());
  }

  struct Step {
    unsigned kind;
    size_t a, b, out;
    bool is_swapped;
  };
  void run(const Step& step) {
    aclTensorList* a = tensors(step.a, step.is_swapped);
    aclTensorList* b = tensors(step.b, step.is_swapped);
    aclTensorList* out = tensors(step.out, step.is_swapped);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    if (step.kind == 0) {
      ASSERT_EQ(aclnnForeachAddListV2GetWorkspaceSize(a, b, one_, out, &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnForeachAddListV2(nullptr, 0, executor, stream_), ACL_SUCCESS);
    } else if (step.kind == 1) {
      ASSERT_EQ(aclnnForeachMulListGetWorkspaceSize(a, b, out, &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnForeachMulList(nullptr, 0, executor, stream_), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclnnForeachNegGetWorkspaceSize(a, out, &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnForeachNeg(nullptr, 0, executor, stream_), ACL_SUCCESS);
    }
    for (aclTensorList* list : {a, b, out}) aclDestroyTensorList(list);
  }

  void upload_all() {
    for (size_t list = 0; list < kLists; ++list) {
      for (size_t i = 0; i < kCounts.size(); ++i) {
        const size_t bytes = start_[list][i].size() * sizeof(float);
        if (bytes == 0) continue;
        ASSERT_EQ(aclrtMemcpy(memory_[list][i], bytes, start_[list][i].data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
                  ACL_SUCCESS);
      }
    }
  }
  std::vector<std::vector<float>> result() {
    std::vector<std::vector<float>> found;
    for (size_t list = 0; list < kLists; ++list) {
      for (size_t i = 0; i < kCounts.size(); ++i) {
        auto& values = found.emplace_back(static_cast<size_t>(kCounts[i]));
        const size_t bytes = values.size() * sizeof(float);
        if (bytes == 0) continue;
        EXPECT_EQ(aclrtMemcpy(values.data(), bytes, memory_[list][i], bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      }
    }
    return found;
  }

  std::mt19937 random_{11};
  std::array<std::array<std::vector<float>, kCounts.size()>, kLists> start_;
  std::array<std::array<void*, kCounts.size()>, kLists> memory_{};
  aclrtStream stream_ = nullptr;
  aclScalar* one_ = nullptr;
};

TEST_F(FusedListsTest, FusedResultIsBitwiseEqualToUnfused) {
  for (int round = 0; round < 6; ++round) {
    uint64_t before = 0;
    ASSERT_EQ(softnpuGetFusedTasks(0, &before), ACL_SUCCESS);
    std::array<Step, 12> chain{};
    for (Step& step : chain) {
      step = {static_cast<unsigned>(random_() % 3), random_() % kLists, random_() % kLists, random_() % kLists,
              round % 2 == 1 && random_() % 4 == 0};
    }
    upload_all();
    for (const Step& step : chain) {
      run(step);
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    }
    const auto expected = result();
    upload_all();
    BlockingTask blocking;
    ASSERT_EQ(blocking.launch(stream_), ACL_SUCCESS);
    for (const Step& step : chain) run(step);
    blocking.release();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(result(), expected);
    uint64_t after = 0;
    ASSERT_EQ(softnpuGetFusedTasks(0, &after), ACL_SUCCESS);
    if (round % 2 == 0) {
      EXPECT_EQ(after - before, chain.size() - 1);
    }
  }
}

}  // namespace
