#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "profiling/aprof_pub.h"

namespace {

int32_t never_called(uint32_t, void*, uint32_t) {
  ADD_FAILURE() << "profiling cannot start";
  return 0;
}

TEST(Report, HashesAreFnv1a) {
  // The published test vectors of 64-bit FNV-1a.
  EXPECT_EQ(MsprofGetHashId("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(MsprofGetHashId("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(MsprofGetHashId("foobar", 6), 0x85944171f73967e8u);
  EXPECT_EQ(MsprofGetHashId("foobarbaz", 6), MsprofGetHashId("foobar", 6));
  EXPECT_EQ(MsprofGetHashId(nullptr, 3), 0u);
}

TEST(Report, ThreadsAgreeOnNames) {
  constexpr int kNames = 1000;
  std::vector<std::vector<uint64_t>> ids(4, std::vector<uint64_t>(kNames));
  std::vector<std::thread> threads;
  for (auto& own : ids) {
    threads.emplace_back([&own] {
      for (int i = 0; i < kNames; ++i) {
        std::string name = "aclnnOperator" + std::to_string(i);
        own[static_cast<size_t>(i)] = MsprofGetHashId(name.data(), name.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<uint64_t>(ids[0].begin(), ids[0].end()).size(), static_cast<size_t>(kNames));
  for (const auto& own : ids) EXPECT_EQ(own, ids[0]);
}

TEST(Report, TheClockIsMonotonicAndCountsNanoseconds) {
  uint64_t first = MsprofSysCycleTime();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(MsprofSysCycleTime() - first, 2'000'000u);
}

TEST(Report, ReportsAreDroppedAndNullIsRefused) {
  int data = 0;
  EXPECT_EQ(MsprofRegisterCallback(3, never_called), 0);
  EXPECT_EQ(MsprofReportApi(0, reinterpret_cast<const MsprofApi*>(&data)), 0);
  EXPECT_EQ(MsprofReportCompactInfo(1, &data, sizeof data), 0);
  EXPECT_EQ(MsprofReportAdditionalInfo(1, &data, sizeof data), 0);
  EXPECT_NE(MsprofRegisterCallback(3, nullptr), 0);
  EXPECT_NE(MsprofReportApi(0, nullptr), 0);
  EXPECT_NE(MsprofReportCompactInfo(1, nullptr, 4), 0);
  EXPECT_NE(MsprofReportAdditionalInfo(1, nullptr, 4), 0);
}

}  // namespace
