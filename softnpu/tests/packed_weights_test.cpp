// Packed copies of weights: made at the second use, never used after the weights were written, freed with them.

#include <cstdint>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_inplace_fill_scalar.h"
#include "blocking_task.h"
#include "opgen/onednn_present.h"
#include "softnpu/softnpu.h"

namespace {

constexpr const char* kWithoutOneDnn = "only oneDNN packs filters";
constexpr int64_t kChannels = 64;
constexpr int64_t kSize = 14;
constexpr int64_t kKernel = 3;
constexpr size_t kWeights = kChannels * kChannels * kKernel * kKernel;
constexpr size_t kWeightBytes = kWeights * sizeof(float);
constexpr size_t kImageBytes = kChannels * kSize * kSize * sizeof(float);

// A convolution of ones: each inner value of the result is the sum of a filter.
class PackedWeightsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    image_ = make(kImageBytes);
    result_ = make(kImageBytes);
    weight_ = make(kWeightBytes);
    const std::vector<float> ones(kChannels * kSize * kSize, 1.0F);
    aclrtMemcpy(image_, kImageBytes, ones.data(), kImageBytes, ACL_MEMCPY_HOST_TO_DEVICE);
    write(1);
  }

  void TearDown() override {
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  static void* make(size_t bytes) {
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    return block;
  }

  void write(float value) {
    const std::vector<float> values(kWeights, value);
    ASSERT_EQ(aclrtMemcpy(weight_, kWeightBytes, values.data(), kWeightBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }

  void launch() {
    const int64_t image[] = {1, kChannels, kSize, kSize};
    const int64_t filter[] = {kChannels, kChannels, kKernel, kKernel};
    aclTensor* in = tensor(image, image_);
    aclTensor* weight = tensor(filter, weight_);
    aclTensor* out = tensor(image, result_);
    const int64_t one[] = {1, 1};
    const int64_t zero[] = {0, 0};
    aclIntArray* ones = aclCreateIntArray(one, 2);
    aclIntArray* zeros = aclCreateIntArray(zero, 2);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnConvolutionGetWorkspaceSize(in, weight, nullptr, ones, ones, ones, false, zeros, 1, out, 0, &bytes,
                                               &executor),
              ACL_SUCCESS);
    void* workspace = make(bytes + 1);
    ASSERT_EQ(aclnnConvolution(workspace, bytes, executor, stream_), ACL_SUCCESS);
    workspaces_.push_back(workspace);
    for (aclTensor* t : {in, weight, out}) aclDestroyTensor(t);
    aclDestroyIntArray(ones);
    aclDestroyIntArray(zeros);
  }

  static aclTensor* tensor(const int64_t (&sizes)[4], void* data) {
    return aclCreateTensor(sizes, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, sizes, 4, data);
  }

  // The weight used by the run, or the mean of several.
  float value_seen() {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (void* workspace : workspaces_) aclrtFree(workspace);
    workspaces_.clear();
    const auto* middle = static_cast<const float*>(result_) + kSize + 1;
    return download<float>(middle) / (kChannels * kKernel * kKernel);
  }

  float run() {
    launch();
    return value_seen();
  }

  static uint64_t kept() {
    uint64_t bytes = 0;
    EXPECT_EQ(softnpuGetPackedBytes(0, &bytes), ACL_SUCCESS);
    return bytes;
  }

  aclrtStream stream_ = nullptr;
  void* image_ = nullptr;
  void* result_ = nullptr;
  void* weight_ = nullptr;
  std::vector<void*> workspaces_;
};

TEST_F(PackedWeightsTest, CachedFromTheSecondUse) {
  if (!SOFTNPU_HAS_ONEDNN) GTEST_SKIP() << kWithoutOneDnn;
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(run(), 1.0F);
  EXPECT_EQ(kept(), 0U);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(run(), 1.0F);
  EXPECT_GE(kept(), kWeightBytes);
  size_t less = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &less, &total), ACL_SUCCESS);
  EXPECT_GE(free - less, kWeightBytes);
  EXPECT_EQ(run(), 1.0F);
}

TEST_F(PackedWeightsTest, InvalidatedByWritesToTheWeights) {
  for (int value = 1; value < 4; ++value) {
    write(static_cast<float>(value));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), static_cast<float>(value));
  }
}

// A write that was launched and has not run yet: earlier convolutions use the old weights, later ones the new.
TEST_F(PackedWeightsTest, FollowTheOrderOfTheStream) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(), 1.0F);
  const int64_t sizes[] = {kChannels, kChannels, kKernel, kKernel};
  aclTensor* weight = tensor(sizes, weight_);
  const auto fill = [&](float value) {
    aclScalar* scalar = aclCreateScalar(&value, ACL_FLOAT);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnInplaceFillScalarGetWorkspaceSize(weight, scalar, &bytes, &executor), ACL_SUCCESS);
    ASSERT_EQ(aclnnInplaceFillScalar(nullptr, 0, executor, stream_), ACL_SUCCESS);
    aclDestroyScalar(scalar);
  };
  BlockingTask first;
  ASSERT_EQ(first.launch(stream_), ACL_SUCCESS);
  launch();
  fill(2);
  first.release();
  EXPECT_EQ(value_seen(), 1.0F);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), 2.0F);
  BlockingTask second;
  ASSERT_EQ(second.launch(stream_), ACL_SUCCESS);
  fill(3);
  launch();
  fill(4);
  second.release();
  EXPECT_EQ(value_seen(), 3.0F);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), 4.0F);
  aclDestroyTensor(weight);
}

TEST_F(PackedWeightsTest, FreedWithTheWeights) {
  if (!SOFTNPU_HAS_ONEDNN) GTEST_SKIP() << kWithoutOneDnn;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(), 1.0F);
  EXPECT_GT(kept(), 0U);
  ASSERT_EQ(aclrtFree(weight_), ACL_SUCCESS);
  EXPECT_EQ(kept(), 0U);
  weight_ = make(kWeightBytes);
  write(5);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(), 5.0F);
  softnpuMemoryFreed(weight_, kWeightBytes);  // as for a block of the caching allocator
  EXPECT_EQ(kept(), 0U);
}

TEST_F(PackedWeightsTest, NotCachedForSharedMemory) {
  char key[65] = {};
  ASSERT_EQ(aclrtIpcMemGetExportKey(weight_, kWeightBytes, key, sizeof key, 0), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(), 1.0F);
  EXPECT_EQ(kept(), 0U);
}

TEST_F(PackedWeightsTest, ReleasedWhenMemoryIsExhausted) {
  if (!SOFTNPU_HAS_ONEDNN) GTEST_SKIP() << kWithoutOneDnn;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(), 1.0F);
  EXPECT_GT(kept(), 0U);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  void* most = nullptr;
  if (aclrtMalloc(&most, free + 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) aclrtFree(most);
  EXPECT_EQ(kept(), 0U);
  EXPECT_EQ(run(), 1.0F);
}

TEST_F(PackedWeightsTest, FreedWhenTheDeviceIsReset) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(), 1.0F);
  ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(kept(), 0U);
  ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
}

}  // namespace
