// The launch cache: repeated launches of aclnn operators on other memory (softnpuCacheLaunch).

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mm.h"
#include "softnpu/launch_cache.h"
#include "softnpu/softnpu.h"
#include "softnpu/trace.h"

namespace {

constexpr int64_t kCount = 4;
using Values = std::array<float, kCount>;

class LaunchCacheTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    for (void*& block : blocks_) ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    upload(blocks_[0], Values{1, 2, 3, 4});
    upload(blocks_[1], Values{10, 20, 30, 40});
    upload(blocks_[2], Values{});
    upload(blocks_[3], Values{5, 6, 7, 8});
  }
  void TearDown() override {
    softnpuReleaseCachedLaunch(kept_);
    for (void* block : blocks_) aclrtFree(block);
    AclTest::TearDown();
  }

  // Fixes out = self + 2 * other without a launch.
  void fix_add(void* self, void* other, void* out) {
    aclOpExecutor* executor = plan_add(self, other, out);
    const std::array<const void*, 3> at{self, other, out};
    const std::array<size_t, 3> each{sizeof(Values), sizeof(Values), sizeof(Values)};
    uint64_t workspace = 1;
    ASSERT_EQ(softnpuCacheFixedLaunch(executor, at.data(), each.data(), at.size(), &workspace, &kept_), ACL_SUCCESS);
    ASSERT_NE(kept_, nullptr);
    EXPECT_EQ(workspace, 0u);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);  // the executor does what it did
  }

  using Tensor = std::unique_ptr<aclTensor, decltype(&aclDestroyTensor)>;
  static Tensor tensor(void* data, const std::vector<int64_t>& sizes = {kCount}) {
    return {aclCreateTensor(sizes.data(), sizes.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, sizes.data(),
                            sizes.size(), data),
            &aclDestroyTensor};
  }

  // Phase one of out = self + 2 * other, or of the product of two 2 x 2 matrices.
  static aclOpExecutor* plan_add(void* self, void* other, void* out) {
    float two = 2;
    const std::unique_ptr<aclScalar, decltype(&aclDestroyScalar)> alpha(aclCreateScalar(&two, ACL_FLOAT),
                                                                        &aclDestroyScalar);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnAddGetWorkspaceSize(tensor(self).get(), tensor(other).get(), alpha.get(), tensor(out).get(), &bytes,
                                       &executor),
              ACLNN_SUCCESS);
    return executor;
  }
  static aclOpExecutor* plan_mm(void* a, void* b, void* out) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const std::vector<int64_t> sizes{2, 2};
    EXPECT_EQ(aclnnMmGetWorkspaceSize(tensor(a, sizes).get(), tensor(b, sizes).get(), tensor(out, sizes).get(), 0,
                                      &bytes, &executor),
              ACLNN_SUCCESS);
    return executor;
  }

  using Places = std::array<const void*, 3>;
  aclError keep(const aclOpExecutor* executor, const Places& at, size_t bytes = sizeof(Values)) {
    const std::array<size_t, 3> each{bytes, bytes, bytes};
    return softnpuCacheLaunch(executor, at.data(), each.data(), at.size(), &kept_);
  }
  // Caches out = self + 2 * other without a launch.
  void keep_add(void* self, void* other, void* out) {
    aclOpExecutor* executor = plan_add(self, other, out);
    ASSERT_EQ(keep(executor, {self, other, out}), ACL_SUCCESS);
    ASSERT_NE(kept_, nullptr);
    ASSERT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  }
  aclError replay(const Places& at) { return softnpuLaunchCached(kept_, at.data(), nullptr, nullptr); }
  Values value(size_t block) {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    return download<Values>(blocks_[block]);
  }

  std::array<void*, 4> blocks_{};
  softnpuCachedLaunch* kept_ = nullptr;
};

TEST_F(LaunchCacheTest, CachedLaunchRunsOnOtherMemory) {
  auto [x, y, out, other] = blocks_;
  aclOpExecutor* executor = plan_add(x, y, out);
  ASSERT_EQ(keep(executor, {x, y, out}), ACL_SUCCESS);
  ASSERT_NE(kept_, nullptr);
  ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);  // the executor is unchanged
  EXPECT_EQ(value(2), (Values{21, 42, 63, 84}));
  ASSERT_EQ(replay({other, x, out}), ACL_SUCCESS);
  EXPECT_EQ(value(2), (Values{7, 10, 13, 16}));
  ASSERT_EQ(replay({y, out, other}), ACL_SUCCESS);
  EXPECT_EQ(value(3), (Values{24, 40, 56, 72}));
}

TEST_F(LaunchCacheTest, CachedLaunchMayBeInPlace) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(keep_add(x, y, x));
  ASSERT_EQ(replay({other, y, other}), ACL_SUCCESS);
  EXPECT_EQ(value(3), (Values{25, 46, 67, 88}));
}

TEST_F(LaunchCacheTest, MultipliesSmallMatrices) {
  auto [x, y, out, other] = blocks_;
  aclOpExecutor* executor = plan_mm(x, y, out);
  ASSERT_EQ(keep(executor, {x, y, out}), ACL_SUCCESS);
  ASSERT_NE(kept_, nullptr);
  ASSERT_EQ(aclnnMm(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(value(2), (Values{70, 100, 150, 220}));
  ASSERT_EQ(replay({x, other, out}), ACL_SUCCESS);
  EXPECT_EQ(value(2), (Values{19, 22, 43, 50}));
}

TEST_F(LaunchCacheTest, ARecordingOfOperandsNeedsLaunchesThatWereCachedInIt) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(keep_add(x, y, out));
  softnpuTrace* trace = nullptr;
  ASSERT_EQ(softnpuTraceStart(SOFTNPU_TRACE_TASKS | SOFTNPU_TRACE_DETAILS, &trace), ACL_SUCCESS);
  EXPECT_EQ(replay({x, y, out}), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("cached before a recording of operands"), std::string::npos);
  softnpuReleaseCachedLaunch(std::exchange(kept_, nullptr));
  ASSERT_NO_FATAL_FAILURE(keep_add(x, y, out));
  EXPECT_EQ(replay({x, y, out}), ACL_SUCCESS);
  EXPECT_EQ(value(2), (Values{21, 42, 63, 84}));
  std::vector<std::string> details;
  const auto add = [](void* context, const softnpuTraceRecord* record) {
    if (record->kind != SOFTNPU_TRACE_DETAIL) return;
    static_cast<std::vector<std::string>*>(context)->emplace_back(record->detail);
  };
  ASSERT_EQ(softnpuTraceStop(trace, 10000, add, &details, nullptr), ACL_SUCCESS);
  ASSERT_EQ(details.size(), 1U);
  EXPECT_TRUE(details[0].starts_with("4;4|FLOAT;FLOAT|ND;ND|4|FLOAT|ND")) << details[0];
  EXPECT_EQ(replay({x, y, other}), ACL_SUCCESS);  // a launch that knows its operands needs no recording
  EXPECT_EQ(value(3), (Values{21, 42, 63, 84}));
}

TEST_F(LaunchCacheTest, CachedLaunchRaisesEpochsOfItsOutputs) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(keep_add(x, y, out));
  const uint64_t before = softnpuLastWriteEpoch(other, sizeof(Values));
  ASSERT_EQ(replay({x, y, other}), ACL_SUCCESS);
  EXPECT_GT(softnpuLastWriteEpoch(other, sizeof(Values)), before);
}

TEST_F(LaunchCacheTest, MemoryOfNoDeviceIsRefusedAndNothingIsLaunched) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(keep_add(x, y, out));
  Values on_host{};
  EXPECT_EQ(replay({x, on_host.data(), out}), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("tensor 1 at "), std::string::npos) << recent_error();
  EXPECT_EQ(value(2), Values{});
  EXPECT_EQ(softnpuLaunchCached(nullptr, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(LaunchCacheTest, CallWithOtherOperandsIsNotCached) {
  auto [x, y, out, other] = blocks_;
  aclOpExecutor* executor = plan_add(x, y, out);
  ASSERT_EQ(keep(executor, {x, other, out}), ACL_SUCCESS);  // an argument has another address
  EXPECT_EQ(kept_, nullptr);
  ASSERT_EQ(keep(executor, {x, y, out}, sizeof(float)), ACL_SUCCESS);  // more bytes are written
  EXPECT_EQ(kept_, nullptr);
  ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
  EXPECT_NE(keep(executor, {x, y, out}), ACL_SUCCESS);  // already used
  EXPECT_EQ(kept_, nullptr);
  EXPECT_EQ(value(2), (Values{21, 42, 63, 84}));
}

TEST_F(LaunchCacheTest, FixedLaunchRunsAgainOnTheSameMemory) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(fix_add(x, y, out));
  EXPECT_EQ(value(2), (Values{21, 42, 63, 84}));
  upload(x, Values{0, 0, 0, 1});
  const uint64_t before = softnpuLastWriteEpoch(out, sizeof(Values));
  ASSERT_EQ(replay({x, y, out}), ACL_SUCCESS);
  EXPECT_EQ(value(2), (Values{20, 40, 60, 81}));
  EXPECT_GT(softnpuLastWriteEpoch(out, sizeof(Values)), before);
}

TEST_F(LaunchCacheTest, FixedLaunchRefusesOtherMemory) {
  auto [x, y, out, other] = blocks_;
  ASSERT_NO_FATAL_FAILURE(fix_add(x, y, out));
  EXPECT_EQ(replay({x, y, other}), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("other addresses"), std::string::npos) << recent_error();
  EXPECT_EQ(value(3), (Values{5, 6, 7, 8}));
}

TEST_F(LaunchCacheTest, WorkThatSeveralThreadsShareIsNotFixed) {
  constexpr int64_t kMany = int64_t{1} << 20;
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, kMany * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const Tensor whole = tensor(block, {kMany});
  float one = 1;
  const std::unique_ptr<aclScalar, decltype(&aclDestroyScalar)> alpha(aclCreateScalar(&one, ACL_FLOAT),
                                                                      &aclDestroyScalar);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAddGetWorkspaceSize(whole.get(), whole.get(), alpha.get(), whole.get(), &bytes, &executor),
            ACLNN_SUCCESS);
  const size_t each = kMany * sizeof(float);
  const void* at = block;
  ASSERT_EQ(softnpuCacheFixedLaunch(executor, &at, &each, 1, &bytes, &kept_), ACL_SUCCESS);
  EXPECT_EQ(kept_, nullptr);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

}  // namespace
