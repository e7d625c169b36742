#include <array>
#include <numeric>
#include <vector>

#include "acl_fixture.h"

namespace {

using CopyTest = AclTest;

TEST_F(CopyTest, RoundTrip) {
  std::array<int, 1000> source{};
  std::iota(source.begin(), source.end(), 1);
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(aclrtMalloc(&a, sizeof source, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&b, sizeof source, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  upload(a, source);
  ASSERT_EQ(aclrtMemcpy(b, sizeof source, a, sizeof source, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(download<decltype(source)>(b), source);
}

TEST_F(CopyTest, BoundsAreChecked) {
  std::array<char, 256> host{};
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_NE(aclrtMemcpy(device, 256, host.data(), 101, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("runs past its allocation: 101 bytes at byte 0 of 100"), std::string::npos);
  EXPECT_EQ(aclrtMemcpy(device, 10, host.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(aclrtMemcpy(host.data(), 256, static_cast<char*>(device) + 50, 51, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(device, 101, 0, 101), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device, 100, host.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(device, 1, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(recent_error().empty(), false);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(CopyTest, KindsAreChecked) {
  std::array<char, 16> host{};
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 16, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device, 16, host.data(), 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device, 16, host.data(), 16, static_cast<aclrtMemcpyKind>(99)), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(device, 16, host.data(), 16, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
}

TEST_F(CopyTest, NoBytesAtANullAddressFitEveryKind) {
  std::array<char, 16> host{};
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 16, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (const aclrtMemcpyKind kind : {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST,
                                     ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
    EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, kind), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, kind, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, device, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, static_cast<aclrtMemcpyKind>(99)), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyTest, PinnedMemoryIsAsynchronousAndOrdered) {
  constexpr size_t kBytes = size_t{4} << 20;
  void* pinned = nullptr;
  void* device = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, kBytes, 7, kBytes, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(pinned, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[kBytes - 1], 7);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_NE(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(CopyTest, PageableMemoryIsReadBeforeTheCallReturns) {
  void* device = nullptr;
  constexpr size_t kBytes = size_t{4} << 20;
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::vector<char> host(kBytes, 3);
  ASSERT_EQ(aclrtMemsetAsync(device, kBytes, 1, kBytes, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), ACL_SUCCESS);
  std::fill(host.begin(), host.end(), 9);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(download<char>(static_cast<char*>(device) + kBytes - 1), 3);
}

// A block of 4 rows of 6 bytes, 8 bytes apart, in device memory.
class PitchedCopyTest : public AclTest {
 protected:
  static constexpr size_t kWidth = 6;
  static constexpr size_t kHeight = 4;
  static constexpr size_t kPitch = 8;
  using Rows = std::array<char, kPitch * kHeight>;

  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&device_, sizeof(Rows) - (kPitch - kWidth), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }

  void* device_ = nullptr;
};

TEST_F(PitchedCopyTest, CopiesRowsAndNothingBetweenThem) {
  for (const bool async : {false, true}) {
    std::array<char, kWidth * kHeight> from{};
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i + 1);
    Rows back;
    back.fill(-1);
    const size_t bytes = sizeof(Rows) - (kPitch - kWidth);
    ASSERT_EQ(aclrtMemset(device_, bytes, 0, bytes), ACL_SUCCESS);
    if (async) {
      ASSERT_EQ(
          aclrtMemcpy2dAsync(device_, kPitch, from.data(), kWidth, kWidth, kHeight, ACL_MEMCPY_HOST_TO_DEVICE, nullptr),
          ACL_SUCCESS);
      ASSERT_EQ(
          aclrtMemcpy2dAsync(back.data(), kPitch, device_, kPitch, kWidth, kHeight, ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
          ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclrtMemcpy2d(device_, kPitch, from.data(), kWidth, kWidth, kHeight, ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpy2d(back.data(), kPitch, device_, kPitch, kWidth, kHeight, ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
    }
    for (size_t row = 0; row < kHeight; ++row) {
      for (size_t column = 0; column < kPitch; ++column) {
        const auto wanted = static_cast<char>(column < kWidth ? static_cast<int>(row * kWidth + column + 1) : -1);
        ASSERT_EQ(back[row * kPitch + column], wanted) << row << ", " << column;
      }
    }
  }
}

TEST_F(PitchedCopyTest, BadSizesAreErrors) {
  Rows host{};
  const auto copy = [&](size_t dst_pitch, size_t width, size_t height) {
    return aclrtMemcpy2d(device_, dst_pitch, host.data(), kPitch, width, height, ACL_MEMCPY_HOST_TO_DEVICE);
  };
  EXPECT_EQ(copy(kWidth - 1, kWidth, kHeight), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("begin 5 bytes apart"), std::string::npos);
  EXPECT_EQ(copy(kPitch, kWidth + 1, kHeight), ACL_ERROR_RT_PARAM_INVALID);  // beyond the end of the last row
  EXPECT_EQ(copy(kPitch, kWidth, kHeight + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(copy(SIZE_MAX, 1, 3), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(copy(kPitch, 0, kHeight), ACL_SUCCESS);
  EXPECT_EQ(copy(kPitch, kWidth, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2d(device_, kPitch, host.data(), kPitch, 1, 1, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy2d(nullptr, kPitch, host.data(), kPitch, 1, 1, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM);
}

TEST_F(CopyTest, ABatchCopiesInBothDirectionsAndNamesTheFirstBadOne) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  int in = 7;
  int out = 0;
  void* dsts[] = {device, &out};
  void* srcs[] = {&in, device};
  size_t sizes[] = {sizeof in, sizeof out};
  size_t most[] = {8, sizeof out};
  const aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST};
  const aclrtMemLocation npu{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemcpyBatchAttr attrs[] = {{npu, host, {}}, {host, npu, {}}};
  size_t indexes[] = {0, 1};
  size_t failed = 0;
  ASSERT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 2, attrs, indexes, 2, &failed), ACL_SUCCESS);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(failed, SIZE_MAX);
  in = 8;
  ASSERT_EQ(aclrtMemcpyBatchAsync(dsts, most, srcs, sizes, 2, attrs, indexes, 2, &failed, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(out, 8);

  most[1] = 1;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 2, attrs, indexes, 2, &failed), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(failed, 1u);
  EXPECT_NE(recent_error().find("copy 1 of the batch"), std::string::npos);
  most[1] = sizeof out;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 2, attrs, indexes, 1, &failed), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(failed, 1u);  // the one attribute states that copy 1 is to the device as well
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 2, attrs, indexes, 0, &failed), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 0, attrs, indexes, 1, &failed), ACL_ERROR_INVALID_PARAM);
  indexes[1] = 2;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, sizes, 2, attrs, indexes, 2, &failed), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, most, srcs, nullptr, 2, attrs, indexes, 1, &failed), ACL_ERROR_INVALID_PARAM);
}

TEST_F(CopyTest, FlushesAndHintsCheckTheirRanges) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMallocCached(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemFlush(device, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemInvalidate(device, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsync(device, 64, ACL_RT_CMO_TYPE_PREFETCH, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemFlush(device, 65), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemInvalidate(&device, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoAsync(device, 65, ACL_RT_CMO_TYPE_PREFETCH, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoAsync(device, 64, static_cast<aclrtCmoType>(9), nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
