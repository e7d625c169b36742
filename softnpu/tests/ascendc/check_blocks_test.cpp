// Checked mode and the blocks of an allocator. The tests of DISABLED_WithBlocks run in a process of their own, which
// the last test starts.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ascendc/check_process.h"
#include "ascendc/kernel_run.h"
#include "ascendc/labelled/labelled.h"
#include "softnpu/written_memory.h"

namespace {

using namespace AscendC;
using labelled::kTile;
using labelled::order;

constexpr size_t kBlock = 4096;  // bytes; the allocation has four
constexpr uint32_t kFloats = kBlock / sizeof(float);

struct Arguments {
  float* x;
  float* z;
};

GlobalTensor<float> unbounded(float* address) {
  GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(address);
  return tensor;
}

// Copies `count` floats from x + from to z + to.
template <uint32_t from, uint32_t to, uint32_t count>
void copy(const Arguments& a) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kBlock);
  LocalTensor<float> local = buffer.Get<float>();
  DataCopy(local, unbounded(a.x)[from], count);
  order<HardEvent::MTE2_MTE3>(0);
  DataCopy(unbounded(a.z)[to], local, count);
}

class DISABLED_WithBlocks : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    ASSERT_EQ(softnpuTracksBlocks(), 1);
    segment_ = reinterpret_cast<char*>(on_device(std::vector<float>(4 * kFloats, 1)));
  }
  // A block with contents.
  static void hand_out(const void* address, size_t bytes, const char* label) {
    softnpuBlockAllocated(address, bytes, label);
    softnpuKernelWrote(address, bytes);
  }
  float* block(int i) const { return reinterpret_cast<float*>(segment_ + i * kBlock); }
  Arguments arguments(int x, int z) const { return {kernel_address(block(x)), kernel_address(block(z))}; }
  template <typename Body, typename A>
  aclError check(const A& given, Body body) {
    ::testing::internal::CaptureStderr();
    const aclError error = run("blocks", 1, given, body);
    reports_ = ::testing::internal::GetCapturedStderr();
    return error;
  }
  bool has(const std::string& part) const { return reports_.find(part) != std::string::npos; }
  static std::string at(const void* address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(reinterpret_cast<uint64_t>(address)));
    return text;
  }

  char* segment_ = nullptr;
  std::string reports_;
};

TEST_F(DISABLED_WithBlocks, AnAllocationWithoutBlocksIsOneTensor) {
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<kFloats - 8, kFloats - 8, 16>(a); }), ACL_SUCCESS)
      << reports_;
}

TEST_F(DISABLED_WithBlocks, ReadingBehindTheEndNamesTheTensor) {
  hand_out(block(0), kBlock, "train.py:12");
  hand_out(block(1), kBlock, nullptr);
  hand_out(block(2), kBlock, nullptr);
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<kFloats - 8, 0, 64>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("memcheck: DataCopy reads 224 bytes behind the end of a tensor of 4096 bytes at " + at(block(0)) +
                  ", allocated at train.py:12"))
      << reports_;
  EXPECT_TRUE(has("it begins at byte 4064 of a tensor of 4096 bytes at " + at(block(0)) +
                  ", allocated at train.py:12; byte 4064 of an allocation of 16384 bytes"))
      << reports_;
  EXPECT_TRUE(has("it reaches a tensor of 4096 bytes at " + at(block(1)))) << reports_;
}

TEST_F(DISABLED_WithBlocks, WritingBehindTheEndIsNotDone) {
  hand_out(block(0), kBlock, nullptr);
  hand_out(block(1), kBlock, nullptr);
  hand_out(block(2), kBlock, nullptr);
  hand_out(block(3), kBlock, nullptr);
  ASSERT_EQ(aclrtMemset(block(3), kBlock, 0, kBlock), ACL_SUCCESS);
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, kFloats - 8, 64>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("memcheck: DataCopy writes 224 bytes behind the end of a tensor of 4096 bytes")) << reports_;
  EXPECT_EQ(on_host(block(3), 1)[0], 0);
}

TEST_F(DISABLED_WithBlocks, AWholeTileOfANeighbourIsReported) {
  hand_out(block(0), kBlock, nullptr);
  hand_out(block(1), kBlock, "train.py:3");
  hand_out(block(2), kBlock, nullptr);
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<kFloats, 0, kTile>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("memcheck: DataCopy reads a tensor that no argument of the kernel points to")) << reports_;
  EXPECT_TRUE(has("it begins at byte 0 of a tensor of 4096 bytes at " + at(block(1)) + ", allocated at train.py:3"))
      << reports_;
  EXPECT_TRUE(has("the kernel's tensor before it: a tensor of 4096 bytes at " + at(block(0)))) << reports_;
}

// x points to memory with a pointer to the source, its fourth word.
void copy_listed(const Arguments& a) {
  Arguments to = a;
  std::memcpy(&to.x, a.x + 6, sizeof to.x);
  copy<0, 0, kTile>(to);
}

TEST_F(DISABLED_WithBlocks, PointersInTensorsAreFollowed) {
  for (const int i : {0, 1, 2}) hand_out(block(i), kBlock, nullptr);
  const Arguments given = arguments(0, 2);
  const float* source = kernel_address(block(1));
  ASSERT_EQ(aclrtMemcpy(block(0) + 6, kBlock, &source, sizeof source, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(check(given, [](const Arguments& a) { copy_listed(a); }), ACL_SUCCESS) << reports_;
}

TEST_F(DISABLED_WithBlocks, PointersInPinnedMemoryAreFollowed) {
  for (const int i : {0, 1, 2}) hand_out(block(i), kBlock, nullptr);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 32), ACL_SUCCESS);
  const float* source = kernel_address(block(1));
  std::memcpy(static_cast<float*>(pinned) + 6, &source, sizeof source);
  const Arguments given{static_cast<float*>(pinned), kernel_address(block(2))};
  EXPECT_EQ(check(given, [](const Arguments& a) { copy_listed(a); }), ACL_SUCCESS) << reports_;
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

// x points to memory of which the third word is a pointer to the source.
TEST_F(DISABLED_WithBlocks, ListsOfPointersAreFollowedToTheirEnds) {
  for (const int i : {0, 1, 2}) hand_out(block(i), kBlock, nullptr);
  constexpr size_t kBytes = 3 * sizeof(void*);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  const float* source = kernel_address(block(1));
  std::memcpy(static_cast<float*>(pinned) + 4, &source, sizeof source);
  const auto body = [](const Arguments& a) {
    Arguments to = a;
    std::memcpy(&to.x, a.x + 4, sizeof to.x);
    copy<0, 0, kTile>(to);
  };
  EXPECT_EQ(check(Arguments{static_cast<float*>(pinned), kernel_address(block(2))}, body), ACL_SUCCESS) << reports_;
  void* plain = nullptr;
  ASSERT_EQ(aclrtMalloc(&plain, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(plain, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const Arguments given{kernel_address(static_cast<float*>(plain)), kernel_address(block(2))};
  EXPECT_EQ(check(given, body), ACL_SUCCESS) << reports_;
  EXPECT_EQ(aclrtFree(plain), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(DISABLED_WithBlocks, AListDeepInATensorIsFollowedFromItsArgument) {
  constexpr size_t kDeep = size_t{2} << 20;
  char* large = nullptr;
  ASSERT_EQ(aclrtMalloc(reinterpret_cast<void**>(&large), kDeep + kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  hand_out(large, kDeep + kBlock, nullptr);
  for (const int i : {1, 2}) hand_out(block(i), kBlock, nullptr);
  const float* source = kernel_address(block(1));
  ASSERT_EQ(aclrtMemcpy(large + kDeep + 24, kBlock, &source, sizeof source, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const Arguments given{kernel_address(reinterpret_cast<float*>(large + kDeep)), kernel_address(block(2))};
  EXPECT_EQ(check(given, [](const Arguments& a) { copy_listed(a); }), ACL_SUCCESS) << reports_;
  EXPECT_EQ(aclrtFree(large), ACL_SUCCESS);
}

TEST_F(DISABLED_WithBlocks, ATensorEndsWithItsLastUnitAtTheEndOfItsAllocation) {
  void* own = nullptr;
  ASSERT_EQ(aclrtMalloc(&own, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  hand_out(own, 100, nullptr);
  hand_out(block(2), kBlock, nullptr);
  const Arguments given{kernel_address(static_cast<float*>(own)), kernel_address(block(2))};
  EXPECT_EQ(check(given, [](const Arguments& a) { copy<0, 0, 32>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_EQ(check(given, [](const Arguments& a) { copy<24, 0, 8>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_NE(check(given, [](const Arguments& a) { copy<0, 0, 40>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("DataCopy reads 60 bytes behind the end of a tensor of 100 bytes")) << reports_;
  EXPECT_EQ(aclrtFree(own), ACL_SUCCESS);
}

TEST_F(DISABLED_WithBlocks, TheLastUnitOf32BytesMayBeCopied) {
  hand_out(block(0), 100, nullptr);
  hand_out(block(2), 100, nullptr);
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, 32>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, 40>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("DataCopy reads 60 bytes behind the end of a tensor of 100 bytes")) << reports_;
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<32, 0, 8>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("DataCopy reads global memory that is no tensor's")) << reports_;
  EXPECT_TRUE(has("it begins at 28 bytes behind the end of a tensor of 100 bytes")) << reports_;
}

TEST_F(DISABLED_WithBlocks, ABlockWithinAUnitEndsIt) {
  hand_out(block(0), 16, nullptr);
  hand_out(block(0) + 4, 16, nullptr);
  hand_out(block(2), kBlock, nullptr);
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, 8>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("DataCopy reads 16 bytes behind the end of a tensor of 16 bytes")) << reports_;
}

TEST_F(DISABLED_WithBlocks, AFreedTensorIsNamed) {
  hand_out(block(0), kBlock, "train.py:12");
  hand_out(block(2), kBlock, nullptr);
  softnpuBlockFreed(block(0));
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<8, 0, 8>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("memcheck: DataCopy reads a tensor that was freed")) << reports_;
  EXPECT_TRUE(
      has("it begins at byte 32 of a freed tensor of 4096 bytes at " + at(block(0)) + ", allocated at train.py:12"))
      << reports_;
  hand_out(block(0), 64, nullptr);
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<8, 0, 8>(a); }), ACL_SUCCESS) << reports_;
}

TEST_F(DISABLED_WithBlocks, ScalarAccessesAreJudged) {
  hand_out(block(0), kBlock, nullptr);
  hand_out(block(1), kBlock, nullptr);
  ASSERT_EQ(aclrtMemset(block(1), kBlock, 0, kBlock), ACL_SUCCESS);
  EXPECT_NE(check(arguments(0, 0), [](const Arguments& a) { unbounded(a.z).SetValue(kFloats, 7.0F); }), ACL_SUCCESS);
  EXPECT_TRUE(has("memcheck: SetValue writes a tensor that no argument of the kernel points to")) << reports_;
  EXPECT_EQ(on_host(block(1), 1)[0], 0);
}

std::atomic<bool> may_end{false};

// The launch counts, not the time when the kernel runs.
TEST_F(DISABLED_WithBlocks, AKernelKeepsTheTensorsOfItsLaunch) {
  hand_out(block(0), kBlock, nullptr);
  hand_out(block(2), kBlock, nullptr);
  const auto body = [](const Arguments& a) { copy<0, 0, kTile>(a); };
  const auto wait = [](const Arguments&) {
    while (!may_end) std::this_thread::yield();
  };
  ASSERT_EQ((launch<Arguments, decltype(wait)>("before", 1, arguments(0, 2), nullptr)), ACL_SUCCESS);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((launch<Arguments, decltype(body)>("late", 1, arguments(0, 2), nullptr)), ACL_SUCCESS);
  softnpuBlockFreed(block(0));
  hand_out(block(0), 64, nullptr);
  EXPECT_EQ((launch<Arguments, decltype(body)>("later", 1, arguments(0, 2), nullptr)), ACL_SUCCESS);
  may_end = true;
  EXPECT_NE(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  reports_ = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(has("kernel late,")) << reports_;
  EXPECT_TRUE(has("DataCopy reads 960 bytes behind the end of a tensor of 64 bytes")) << reports_;
  EXPECT_TRUE(has("kernel later,")) << reports_;
}

TEST_F(DISABLED_WithBlocks, FreedAllocationsForgetTheirBlocks) {
  hand_out(block(0), 64, nullptr);
  ASSERT_EQ(aclrtFree(segment_), ACL_SUCCESS);
  void* again = nullptr;
  ASSERT_EQ(aclrtMalloc(&again, 4 * kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(again, segment_) << "the test needs the same memory again";
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS) << reports_;
}

TEST_F(DISABLED_WithBlocks, FindTellsTheNeighbours) {
  hand_out(block(1), 100, "a.py:1");
  hand_out(block(2), 200, nullptr);
  softnpuBlockFreed(block(2));
  softnpuBlocks* blocks = softnpuTakeBlocks();
  ASSERT_NE(blocks, nullptr);
  hand_out(block(3), 300, nullptr);
  softnpuBlock before{};
  softnpuBlock behind{};
  ASSERT_EQ(softnpuFindBlock(blocks, block(1) + 1, &before, &behind), 1);
  EXPECT_EQ(before.address, block(1));
  EXPECT_EQ(before.bytes, 100u);
  EXPECT_STREQ(before.label, "a.py:1");
  EXPECT_EQ(before.isLive, 1);
  EXPECT_EQ(behind.address, block(2));
  EXPECT_EQ(behind.label, nullptr);
  EXPECT_EQ(behind.isLive, 0);
  ASSERT_EQ(softnpuFindBlock(blocks, block(0), &before, &behind), 1);
  EXPECT_EQ(before.address, nullptr);
  ASSERT_EQ(softnpuFindBlock(blocks, block(3), &before, &behind), 1);
  EXPECT_EQ(before.address, block(2));
  EXPECT_EQ(behind.address, nullptr) << "handed out behind the snapshot";
  int on_host = 0;
  EXPECT_EQ(softnpuFindBlock(blocks, &on_host, &before, &behind), 0);
  EXPECT_EQ(softnpuFindBlock(nullptr, block(1), &before, &behind), 0);
  softnpuReleaseBlocks(blocks);
  softnpuReleaseBlocks(nullptr);
}

// Each byte counts for itself, since the block was handed out last.
TEST_F(DISABLED_WithBlocks, ReadsOfWhatNothingHasWrittenAreReported) {
  hand_out(block(2), kBlock, nullptr);
  softnpuBlockAllocated(block(0), kBlock, "train.py:5");
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("initcheck: DataCopy reads bytes of global memory that nothing has written")) << reports_;
  EXPECT_TRUE(has("allocated at train.py:5")) << reports_;
  ASSERT_EQ(aclrtMemset(block(0), kBlock, 0, kTile * sizeof(float) - 32), ACL_SUCCESS);
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile - 8>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS);
  EXPECT_TRUE(has("in byte " + std::to_string(kTile * sizeof(float) - 32) + " of a tensor of 4096 bytes")) << reports_;
  // A kernel's writes count for those behind it, too.
  EXPECT_EQ(check(arguments(2, 0), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_EQ(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS) << reports_;
  softnpuBlockFreed(block(0));
  softnpuBlockAllocated(block(0), kBlock, nullptr);
  EXPECT_NE(check(arguments(0, 2), [](const Arguments& a) { copy<0, 0, kTile>(a); }), ACL_SUCCESS);
}

TEST(CheckBlocks, InCheckedMode) {
  const ProcessResult result =
      run_process("1", "",
                  "env -u ASCEND_LAUNCH_BLOCKING " + own_path() +
                      " --gtest_filter='DISABLED_WithBlocks.*' --gtest_also_run_disabled_tests");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_NE(result.output.find("[  PASSED  ] 17 tests."), std::string::npos) << result.output;
}

TEST(CheckBlocks, NothingIsKeptWithoutChecks) {
  if (softnpu::kernel::is_checked) GTEST_SKIP() << "this process checks its kernels";
  EXPECT_EQ(softnpuTracksBlocks(), 0);
  const int memory = 0;
  softnpuBlockAllocated(&memory, sizeof memory, nullptr);
  EXPECT_EQ(softnpuTakeBlocks(), nullptr);
  softnpuBlockFreed(&memory);
}

}  // namespace
