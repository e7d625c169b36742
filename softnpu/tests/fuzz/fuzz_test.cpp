// Random calls never crash and never fail without a message, and the device works afterwards. A test's number is its
// seed; from kFirstWithThreads on, several threads share their handles.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "fuzz/table.h"
#include "sanitizers.h"
#include "softnpu/softnpu.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

// Suppresses the program's own races, which these tests generate: two of its threads access the same device memory, and
// one writes it, also the overflow's status.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:*runtime/memory/copy.cpp\nrace:*ascendcl/overflow.cpp\n";
}

namespace fuzz {
namespace {

constexpr unsigned kSeeds = 16;
constexpr unsigned kFirstWithThreads = 6;
constexpr int kThreads = 4;
constexpr int kCalls = by_build(40'000, 2'000);  // per thread

std::atomic<unsigned> current_seed{0};

void print_seed() {
  char line[64];
  const int length = std::snprintf(line, sizeof line, "fuzz: the seed is %u\n", current_seed.load());
  (void)!write(STDERR_FILENO, line, static_cast<size_t>(length));
}

void on_crash() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(print_seed);
#else
  for (int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    std::signal(number, [](int caught) {
      print_seed();
      std::signal(caught, SIG_DFL);
      std::raise(caught);
    });
  }
#endif
}

std::vector<const Row*> by_weight() {
  std::vector<const Row*> rows;
  for (const Row& row : table()) rows.insert(rows.end(), static_cast<size_t>(row.weight), &row);
  return rows;
}

void call_at_random(Draw& draw) {
  static const std::vector<const Row*> rows = by_weight();
  for (int i = 0; i < kCalls; ++i) {
    const Row& row = *rows[draw.number(static_cast<uint32_t>(rows.size()))];
    if (row.call(draw) == ACL_SUCCESS) continue;
    ASSERT_NE(aclGetRecentErrMsg(), nullptr) << row.name << " failed without a message, seed " << current_seed;
  }
}

void expect_works(int32_t device) {
  ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(device), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(free, total);
  void* block = nullptr;
  int in = 42;
  int out = 0;
  ASSERT_EQ(aclrtMalloc(&block, sizeof in, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(block, sizeof in, &in, sizeof in, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(&out, sizeof in, block, sizeof in, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(out, in);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

class FuzzTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(FuzzTest, NeverCrashes) {
  on_crash();
  current_seed = GetParam();
  (void)aclInit(nullptr);
  World world;
  std::vector<std::unique_ptr<Draw>> draws;  // their host memory must outlive queued work
  const int threads = GetParam() < kFirstWithThreads ? 1 : kThreads;
  for (int t = 0; t < threads; ++t) {
    draws.push_back(std::make_unique<Draw>(&world, GetParam() * 100 + static_cast<unsigned>(t)));
  }
  std::vector<std::thread> running;
  for (auto& draw : draws) running.emplace_back([&draw] { call_at_random(*draw); });
  for (auto& thread : running) thread.join();
  // A device's memory may be open on the other one.
  for (int32_t device : {0, 1}) ASSERT_EQ(softnpuReleaseDevice(device), ACL_SUCCESS);
  for (int32_t device : {0, 1}) expect_works(device);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FuzzTest, ::testing::Range(0U, kSeeds), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace fuzz
