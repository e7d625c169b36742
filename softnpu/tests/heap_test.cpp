#include "runtime/memory/heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace softnpu {
namespace {

class HeapTest : public ::testing::Test {
 protected:
  static constexpr size_t kSize = size_t{64} << 20;
  void SetUp() override { ASSERT_TRUE(region.map(Heap::region_size(kSize), 0, false).is_ok()); }
  Region region;
};

TEST_F(HeapTest, WholeCapacityCanBeAllocatedAndFreed) {
  Heap heap(&region, kSize);
  void* whole = nullptr;
  ASSERT_TRUE(heap.allocate(kSize, &whole).is_ok());
  EXPECT_EQ(heap.used(), kSize);
  ASSERT_TRUE(heap.release(whole).is_ok());
  EXPECT_EQ(heap.used(), 0u);
}

TEST_F(HeapTest, CapacityErrorStatesTheSizes) {
  Heap heap(&region, size_t{1} << 20);
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(1000, &block).is_ok());
  Status status = heap.allocate(size_t{1} << 20, &block);
  EXPECT_EQ(status.code(), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_NE(status.message().find("1048576"), std::string::npos) << status.message();
  EXPECT_FALSE(heap.allocate(~size_t{0}, &block).is_ok());
}

TEST_F(HeapTest, RefusesForeignAndRepeatedFrees) {
  Heap heap(&region, kSize);
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(4096, &block).is_ok());
  int local = 0;
  EXPECT_FALSE(heap.release(&local).is_ok());
  EXPECT_FALSE(heap.release(static_cast<char*>(block) + 512).is_ok());
  ASSERT_TRUE(heap.release(block).is_ok());
  EXPECT_FALSE(heap.release(block).is_ok());
}

TEST_F(HeapTest, AHeldBlockIsReusedAfterItsLastHold) {
  Heap heap(&region, kSize);
  void* block = nullptr;
  ASSERT_TRUE(heap.allocate(kSize, &block).is_ok());
  const uint64_t id = heap.block_id(4096);
  EXPECT_NE(id, 0u);
  ASSERT_TRUE(heap.hold(4096, id));
  ASSERT_TRUE(heap.hold(8192, id));
  ASSERT_TRUE(heap.release(block).is_ok());
  Allocation found;
  EXPECT_FALSE(heap.find(block, &found));
  EXPECT_FALSE(heap.release(block).is_ok());
  EXPECT_EQ(heap.block_id(4096), 0u);
  EXPECT_FALSE(heap.hold(4096, id));  // it has ended
  heap.clear();
  EXPECT_EQ(heap.used(), kSize);
  EXPECT_FALSE(heap.allocate(512, &block).is_ok());
  heap.unhold(4096);
  EXPECT_FALSE(heap.allocate(512, &block).is_ok());
  heap.unhold(8192);
  EXPECT_EQ(heap.used(), 0u);
  ASSERT_TRUE(heap.allocate(kSize, &block).is_ok());
  EXPECT_NE(heap.block_id(0), id);
  EXPECT_FALSE(heap.hold(0, id));
}

// Property: for any order of calls, live blocks are disjoint, aligned and found by any of their addresses. After all
// are freed the whole region can be allocated as one block.
TEST_F(HeapTest, RandomTrafficKeepsTheInvariants) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Heap heap(&region, kSize);
    std::vector<Allocation> live;
    for (int step = 0; step < 400; ++step) {
      if (live.empty() || random() % 3 != 0) {
        size_t size = 1 + random() % (random() % 8 == 0 ? size_t{3} << 20 : size_t{5000});
        if (random() % 16 == 0) size = (1 + random() % 5) * Region::kHugePage;
        void* block = nullptr;
        if (!heap.allocate(size, &block).is_ok()) continue;
        const bool on_huge_page = size >= 4 * Region::kHugePage || size % Region::kHugePage == 0;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (on_huge_page ? Region::kHugePage : 512), 0u);
        for (const Allocation& other : live) {
          auto* begin = static_cast<char*>(block);
          auto* other_begin = static_cast<char*>(other.base);
          EXPECT_TRUE(begin + size <= other_begin || other_begin + other.size <= begin);
        }
        live.push_back({block, size});
      } else {
        size_t victim = random() % live.size();
        ASSERT_TRUE(heap.release(live[victim].base).is_ok());
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      for (const Allocation& block : live) {
        Allocation found;
        ASSERT_TRUE(heap.find(static_cast<char*>(block.base) + block.size - 1, &found));
        EXPECT_EQ(found.base, block.base);
        EXPECT_EQ(found.size, block.size);
      }
    }
    for (const Allocation& block : live) ASSERT_TRUE(heap.release(block.base).is_ok());
    void* whole = nullptr;
    EXPECT_TRUE(heap.allocate(kSize, &whole).is_ok());
  }
}

TEST_F(HeapTest, FreedBlockIsNotFoundAgain) {
  Heap heap(&region, kSize);
  Allocation found;
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_TRUE(heap.allocate(1000, &first).is_ok());
  ASSERT_TRUE(heap.find(first, &found));
  ASSERT_TRUE(heap.release(first).is_ok());
  EXPECT_FALSE(heap.find(first, &found));
  ASSERT_TRUE(heap.allocate(900, &second).is_ok());
  ASSERT_EQ(second, first);
  ASSERT_TRUE(heap.find(first, &found));
  EXPECT_EQ(found.size, 900u);
  heap.clear();
  EXPECT_FALSE(heap.find(first, &found));
}

TEST(Region, ProtectedMappingsShareTheirBytes) {
  Region region;
  ASSERT_TRUE(region.map(Region::kHugePage, 0, true).is_ok());
  EXPECT_NE(region.kernel_offset(), 0);
  std::memset(region.base() + region.kernel_offset(), 42, 16);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(region.base()[0] = 1, "");
}

}  // namespace
}  // namespace softnpu
