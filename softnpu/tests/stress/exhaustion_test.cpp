// Exhausted memory is one clear error, and the device continues as soon as memory is freed.

#include <thread>
#include <vector>

#include "acl_fixture.h"

namespace {

constexpr size_t kBlock = size_t{4} << 20;

class ExhaustionTest : public AclTest {
 protected:
  static size_t free_memory() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    return free;
  }

  // Allocates until the device reports that it is full.
  static std::vector<void*> fill() {
    std::vector<void*> blocks;
    while (true) {
      void* block = nullptr;
      const aclError code = aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST);
      if (code == ACL_SUCCESS) {
        blocks.push_back(block);
        continue;
      }
      EXPECT_EQ(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
      EXPECT_EQ(block, nullptr);
      EXPECT_NE(recent_error().find("out of device memory: asked for 4194304 bytes"), std::string::npos);
      return blocks;
    }
  }
  static void free_all(const std::vector<void*>& blocks) {
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
};

TEST_F(ExhaustionTest, FreedMemoryCanBeAllocatedAgain) {
  const size_t before = free_memory();
  std::vector<void*> blocks = fill();
  EXPECT_EQ(blocks.size(), before / kBlock);
  upload(blocks.back(), 7);
  EXPECT_EQ(download<int>(blocks.back()), 7);  // a full device still works
  EXPECT_EQ(aclrtFree(blocks.front()), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&blocks.front(), kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  free_all(blocks);
  EXPECT_EQ(free_memory(), before);
  void* whole = nullptr;
  ASSERT_EQ(aclrtMalloc(&whole, before, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(whole), ACL_SUCCESS);
}

TEST_F(ExhaustionTest, ManyThreadsFillTheDeviceTogether) {
  const size_t before = free_memory();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int round = 0; round < 20; ++round) free_all(fill());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(free_memory(), before);
  std::vector<void*> blocks = fill();
  EXPECT_EQ(blocks.size(), before / kBlock);
  free_all(blocks);
}

TEST_F(ExhaustionTest, PhysicalAndPinnedMemory) {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(&handle, size_t{1} << 40, &prop, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_NE(recent_error().find("out of device memory"), std::string::npos);
  void* pinned = nullptr;
  EXPECT_EQ(aclrtMallocHost(&pinned, size_t{1} << 60), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_NE(recent_error().find("out of host memory"), std::string::npos);
  ASSERT_EQ(aclrtMallocHost(&pinned, kBlock), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

}  // namespace
