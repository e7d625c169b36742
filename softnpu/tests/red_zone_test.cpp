// Errors that AddressSanitizer finds in device memory. Skipped in other builds.

#ifdef __SANITIZE_ADDRESS__

#include "acl_fixture.h"
#include "softnpu/softnpu.h"

namespace {

constexpr size_t kBytes = 1000;

class RedZoneTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ASSERT_EQ(aclrtMalloc(&block_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    void* kernel = nullptr;
    ASSERT_EQ(softnpuKernelAddress(block_, kBytes, &kernel), ACL_SUCCESS);
    bytes_ = static_cast<volatile char*>(kernel);
  }

  void* block_ = nullptr;
  volatile char* bytes_ = nullptr;  // the address for kernels
};

TEST_F(RedZoneTest, AnOverrunByFourBytesIsFound) {
  for (size_t i = 0; i < kBytes; ++i) bytes_[i] = 1;
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(bytes_ + kBytes) = 1, "use-after-poison");
  EXPECT_DEATH(bytes_[-4] = 1, "use-after-poison|SEGV");
  EXPECT_DEATH(bytes_[kBytes + 255] = 1, "use-after-poison");
}

TEST_F(RedZoneTest, BlocksAreSeparatedByARedZone) {
  void* next = nullptr;
  ASSERT_EQ(aclrtMalloc(&next, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_GE(static_cast<char*>(next) - (static_cast<char*>(block_) + kBytes), 256);
}

TEST_F(RedZoneTest, AccessToFreedMemoryIsFound) {
  ASSERT_EQ(aclrtFree(block_), ACL_SUCCESS);
  EXPECT_DEATH(bytes_[0] = 1, "use-after-poison");
}

TEST_F(RedZoneTest, CopyBeyondABlockIsARuntimeError) {
  EXPECT_EQ(aclrtMemset(block_, kBytes + 4, 0, kBytes + 4), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent_error().find("runs past its allocation"), std::string::npos);
}

TEST_F(RedZoneTest, RedZonesDoNotCountAgainstTheCapacity) {
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
  EXPECT_EQ(before - after, 512u);
}

}  // namespace

#endif
