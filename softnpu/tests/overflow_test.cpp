// Saturation, the overflow flag and the switch of a stream, through the C ABI.

#include <aclnnop/aclnn_inplace_copy.h>
#include <aclnnop/aclnn_mul.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl_fixture.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

class OverflowTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetOverflowStatus(stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetOverflowStatus(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(memory_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  static constexpr size_t kBytes = size_t{1} << 20;

  // The `index`-th piece of the memory, as floats.
  float* floats(size_t index) const { return static_cast<float*>(memory_) + index * kBytes / 8 / sizeof(float); }
  void put(size_t index, const std::vector<float>& values) const {
    const size_t bytes = values.size() * sizeof(float);
    ASSERT_EQ(aclrtMemcpy(floats(index), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  std::vector<float> get(size_t index, size_t count) const {
    std::vector<float> values(count);
    EXPECT_EQ(aclrtMemcpy(values.data(), count * sizeof(float), floats(index), count * sizeof(float),
                          ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return values;
  }
  aclTensor* tensor(size_t index, int64_t count, aclDataType dtype = ACL_FLOAT, int64_t stride = 1) const {
    const int64_t storage = count * stride;
    return aclCreateTensor(&count, 1, dtype, &stride, 0, ACL_FORMAT_ND, &storage, 1, floats(index));
  }

  // out = a * b, on the stream.
  void multiply(aclTensor* a, aclTensor* b, aclTensor* out) const {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMulGetWorkspaceSize(a, b, out, &bytes, &executor), ACLNN_SUCCESS);
    ASSERT_EQ(bytes, 0u);
    ASSERT_EQ(aclnnMul(nullptr, 0, executor, stream_), ACLNN_SUCCESS);
    for (const aclTensor* result : {a, b, out}) aclDestroyTensor(result);
  }
  void copy(aclTensor* to, aclTensor* from) const {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnInplaceCopyGetWorkspaceSize(to, from, &bytes, &executor), ACLNN_SUCCESS);
    ASSERT_EQ(bytes, 0u);
    ASSERT_EQ(aclnnInplaceCopy(nullptr, 0, executor, stream_), ACLNN_SUCCESS);
    for (const aclTensor* result : {to, from}) aclDestroyTensor(result);
  }
  void wait() const { ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
  // The flag in stream order.
  bool flag() const {
    constexpr size_t kStatus = 64;
    EXPECT_EQ(aclrtGetOverflowStatus(floats(7), kStatus, stream_), ACL_SUCCESS);
    wait();
    std::array<int32_t, kStatus / sizeof(int32_t)> words{};
    EXPECT_EQ(aclrtMemcpy(words.data(), kStatus, floats(7), kStatus, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (size_t i = 1; i < words.size(); ++i) EXPECT_EQ(words[i], 0);
    return words[0] != 0;
  }

  aclrtStream stream_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(OverflowTest, InfinitiesAreTheDefault) {
  put(0, {3e38F, -3e38F, 1});
  put(1, {3e38F, 3e38F, 2});
  multiply(tensor(0, 3), tensor(1, 3), tensor(2, 3));
  EXPECT_FALSE(flag());
  EXPECT_EQ(get(2, 3), (std::vector<float>{kInfinity, -kInfinity, 2}));
}

TEST_F(OverflowTest, ResultsSaturateAndSetTheFlagUntilItIsReset) {
  ASSERT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  put(0, {3e38F, -3e38F, 1, kInfinity});
  put(1, {3e38F, 3e38F, 2, 0});
  EXPECT_FALSE(flag());
  multiply(tensor(0, 4), tensor(1, 4), tensor(2, 4));
  EXPECT_TRUE(flag());
  EXPECT_EQ(get(2, 4), (std::vector<float>{kMax, -kMax, 2, 0}));
  multiply(tensor(1, 2), tensor(3, 2), tensor(4, 2));
  EXPECT_TRUE(flag());  // it stays
  ASSERT_EQ(aclrtResetOverflowStatus(stream_), ACL_SUCCESS);
  EXPECT_FALSE(flag());
}

TEST_F(OverflowTest, ElementsBetweenThoseOfTheResultStay) {
  ASSERT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  put(0, {3e38F, 2});
  put(1, {3e38F, 2});
  put(2, {0, kInfinity, 0, kInfinity});
  multiply(tensor(0, 2), tensor(1, 2), tensor(2, 2, ACL_FLOAT, 2));
  EXPECT_TRUE(flag());
  EXPECT_EQ(get(2, 4), (std::vector<float>{kMax, kInfinity, 4, kInfinity}));
}

TEST_F(OverflowTest, CopiesKeepInfinitiesAndConversionsDoNot) {
  ASSERT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  put(0, {kInfinity, 1e6F});
  copy(tensor(1, 2), tensor(0, 2));
  EXPECT_FALSE(flag());
  EXPECT_EQ(get(1, 2), (std::vector<float>{kInfinity, 1e6F}));
  copy(tensor(2, 2, ACL_FLOAT16), tensor(0, 2));
  EXPECT_TRUE(flag());
  const std::vector<float> words = get(2, 1);
  uint32_t halves = 0;
  std::memcpy(&halves, words.data(), sizeof halves);
  EXPECT_EQ(halves, 0x7bff7bffU);  // 65504 twice
}

// Consecutive operators, which would be fused, saturate one by one: x * x * 1e-38.
TEST_F(OverflowTest, FusibleOperatorsSaturateOneByOne) {
  constexpr size_t kCount = 16384;
  ASSERT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  put(0, std::vector<float>(kCount, 3e38F));
  put(1, std::vector<float>(kCount, 1e-38F));
  multiply(tensor(0, kCount), tensor(0, kCount), tensor(2, kCount));
  multiply(tensor(2, kCount), tensor(1, kCount), tensor(3, kCount));
  EXPECT_TRUE(flag());
  const float expected = kMax * 1e-38F;
  EXPECT_EQ(get(3, kCount), std::vector<float>(kCount, expected));
}

TEST_F(OverflowTest, ThreadsShareTheModeAndTheFlag) {
  ASSERT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  put(0, {3e38F});
  std::vector<std::thread> threads;
  for (size_t i = 1; i < 5; ++i) {
    threads.emplace_back([this, i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      multiply(tensor(0, 1), tensor(0, 1), tensor(i, 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(flag());
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(get(i, 1), std::vector<float>{kMax});
}

TEST_F(OverflowTest, TheSwitchOfAStreamSetsTheFlagAlone) {
  ASSERT_EQ(aclrtSetStreamOverflowSwitch(stream_, 1), ACL_SUCCESS);
  put(0, {3e38F});
  multiply(tensor(0, 1), tensor(0, 1), tensor(1, 1));
  EXPECT_TRUE(flag());
  EXPECT_EQ(get(1, 1), std::vector<float>{kInfinity});
}

TEST_F(OverflowTest, BadArgumentsAreRefused) {
  EXPECT_EQ(aclrtSetDeviceSatMode(static_cast<aclrtFloatOverflowMode>(7)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetOverflowStatus(nullptr, 64, stream_), ACL_ERROR_INVALID_PARAM);
  std::array<char, 64> host{};
  EXPECT_EQ(aclrtGetOverflowStatus(host.data(), host.size(), stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(aclrtGetOverflowStatus(memory_, 2 * kBytes, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 2), ACL_ERROR_INVALID_PARAM);
}

// Memory without an address when the status's turn comes is an error of the stream.
TEST_F(OverflowTest, UnmappedMemoryIsNotWritten) {
  constexpr size_t kPage = size_t{2} << 20;
  void* range = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&range, kPage, 0, nullptr, 1), ACL_SUCCESS);
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kPage, &prop, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(range, kPage, 0, handle, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemset(memory_, kBytes, 0, kBytes), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(memory_, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetOverflowStatus(range, sizeof(int32_t), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnmapMem(range), ACL_SUCCESS);
  aclrtStream writer = nullptr;
  ASSERT_EQ(aclrtCreateStream(&writer), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(memory_, 1, 0, writer), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(writer), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
}

}  // namespace
