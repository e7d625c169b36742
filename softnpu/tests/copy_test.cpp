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

}  // namespace
