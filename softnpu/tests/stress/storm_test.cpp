// Streams, events, contexts and memory are created and destroyed by many threads, under work.

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "sanitizers.h"
#include "softnpu/softnpu.h"

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = by_build(3'000, 300);
constexpr size_t kPage = size_t{2} << 20;

class StormTest : public AclTest {
 protected:
  static size_t free_memory() {
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    return free;
  }

  // Runs `round` kRounds times in every thread; afterwards all device memory is free and the device works.
  template <typename Round>
  static void storm(Round round) {
    const size_t before = free_memory();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([=] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (int i = 0; i < kRounds && !HasFailure(); ++i) round(t, i);
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(free_memory(), before);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    upload(block, 42);
    EXPECT_EQ(download<int>(block), 42);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
};

TEST_F(StormTest, StreamsAndEvents) {
  storm([](int thread, int i) {
    void* block = nullptr;
    std::array<aclrtStream, 2> streams{};
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (auto& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    const int value = (thread + i) % 100;
    ASSERT_EQ(aclrtMemsetAsync(block, 4096, value, 4096, streams[0]), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event, streams[0]), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(streams[1], event), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);  // while a stream waits for it
    ASSERT_EQ(
        aclrtMemcpyAsync(static_cast<char*>(block) + 2048, 2048, block, 2048, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[1]),
        ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(streams[1]), ACL_SUCCESS);
    ASSERT_EQ(download<unsigned char>(static_cast<char*>(block) + 4095), value);
    ASSERT_EQ(aclrtMemsetAsync(block, 4096, 0, 4096, streams[0]), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStreamForce(streams[0]), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStream(streams[1]), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST_F(StormTest, Contexts) {
  storm([](int, int i) {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, i % 2), ACL_SUCCESS);
    aclrtContext current = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
    ASSERT_EQ(current, context);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block, 512, 1, 512, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
  EXPECT_EQ(softnpuReleaseDevice(1), ACL_SUCCESS);
}

TEST_F(StormTest, Memory) {
  storm([](int thread, int i) {
    void* small = nullptr;
    void* pinned = nullptr;
    void* range = nullptr;
    aclrtDrvMemHandle physical = nullptr;
    const size_t size = 1 + static_cast<size_t>(thread * 977 + i * 131) % 100'000;
    ASSERT_EQ(aclrtMalloc(&small, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned, size), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(pinned, size, thread, size), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(small, size, pinned, size, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    ASSERT_EQ(download<char>(static_cast<char*>(small) + size - 1), thread);
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    ASSERT_EQ(aclrtReserveMemAddress(&range, kPage, 0, nullptr, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocPhysical(&physical, kPage, &prop, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMapMem(range, kPage, 0, physical, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(range, kPage, i, 4096), ACL_SUCCESS);
    ASSERT_EQ(aclrtUnmapMem(range), ACL_SUCCESS);
    ASSERT_EQ(aclrtFreePhysical(physical), ACL_SUCCESS);
    ASSERT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
    ASSERT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(small), ACL_SUCCESS);
  });
}

// While one thread resets a device, others set it up and use it: each call succeeds or reports what is gone.
TEST_F(StormTest, ResetsUnderUse) {
  constexpr int kResets = by_build(300, 50);
  // After a reset a block may belong to another thread: sanitizer builds do not write it.
  constexpr int kWritten = by_build(4096, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kResets; ++i) {
        ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
        void* block = nullptr;
        const std::array<aclError, 3> codes = {
            aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST),
            aclrtMemsetAsync(block, 4096, t, kWritten, nullptr),
            aclrtSynchronizeStream(nullptr),
        };
        const bool all_done = std::ranges::count(codes, ACL_SUCCESS) == 3;
        EXPECT_EQ(recent_error().empty(), all_done);
        if (t > 0) continue;
        ASSERT_EQ(softnpuReleaseDevice(1), ACL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block, 4096, 5, 4096, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(download<char>(block), 5);
  EXPECT_EQ(softnpuReleaseDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

}  // namespace
