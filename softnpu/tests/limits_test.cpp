// Limits of control groups, read from fake trees of /proc and /sys/fs/cgroup.

#include "runtime/memory/limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace softnpu {
namespace {

namespace fs = std::filesystem;

class Limits : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("softnpu_limits_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  // Version 2: mounts its root, or `mounted`, at /sys/fs/cgroup.
  void mount_v2(const std::string& group, const std::string& mounted = "/") const {
    write("proc/self/cgroup", "0::" + group);
    write("proc/self/mountinfo", "29 23 0:26 " + mounted + " /sys/fs/cgroup ro,nosuid shared:4 - cgroup2 cgroup2 rw");
  }
  void mount_v1(const std::string& group, const std::string& mounted = "/") const {
    write("proc/self/cgroup", "5:cpu,cpuacct:" + group + "\n4:memory:" + group + "\n1:name=systemd:/\n0::/");
    write("proc/self/mountinfo", "33 31 0:30 " + mounted +
                                     " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                                     "35 31 0:32 " +
                                     mounted +
                                     " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                     "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  }
  size_t memory() const { return cgroup_memory(root_.string()); }
  size_t cores() const { return cgroup_cores(root_.string()); }

  fs::path root_;
};

constexpr size_t kGigabyte = size_t{1} << 30;

TEST_F(Limits, NoGroupsAreNoLimit) {
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Limits, AContainerOfVersion2SeesItsOwnGroupAtTheTop) {
  mount_v2("/");
  write("sys/fs/cgroup/memory.max", std::to_string(2 * kGigabyte));
  write("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_EQ(memory(), 2 * kGigabyte);
  EXPECT_EQ(cores(), 2u);
}

TEST_F(Limits, MaxMeansNoLimit) {
  mount_v2("/user.slice/job");
  write("sys/fs/cgroup/user.slice/job/memory.max", "max");
  write("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Limits, GroupsAboveTheOwnOneLimitIt) {
  mount_v2("/a/b");
  write("sys/fs/cgroup/a/b/memory.max", std::to_string(8 * kGigabyte));
  write("sys/fs/cgroup/a/memory.max", std::to_string(3 * kGigabyte));
  write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  write("sys/fs/cgroup/a/cpu.max", "100000 100000");
  EXPECT_EQ(memory(), 3 * kGigabyte);
  EXPECT_EQ(cores(), 1u);
}

TEST_F(Limits, AnotherGroupIsNotTheOwnOne) {
  mount_v2("/a");
  write("sys/fs/cgroup/b/memory.max", std::to_string(kGigabyte));
  EXPECT_EQ(memory(), kNoLimit);
}

TEST_F(Limits, Version1HasAHierarchyForEachController) {
  mount_v1("/jobs/1");
  write("sys/fs/cgroup/memory/jobs/1/memory.limit_in_bytes", std::to_string(2 * kGigabyte));
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/1/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/1/cpu.cfs_period_us", "100000");
  EXPECT_EQ(memory(), 2 * kGigabyte);
  EXPECT_EQ(cores(), 1u);
}

// The process's group path is the host's; the group itself is mounted.
TEST_F(Limits, AContainerOfVersion1SeesItsOwnGroupAtTheTop) {
  mount_v1("/docker/1", "/docker/1");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(2 * kGigabyte));
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(memory(), 2 * kGigabyte);
  EXPECT_EQ(cores(), 3u);
}

TEST_F(Limits, AQuotaOfMinusOneIsNone) {
  mount_v1("/");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Limits, InvalidFilesMeanNoLimit) {
  write("proc/self/cgroup", "what\n::\n0::/a");
  write("proc/self/mountinfo", "1 2\n - cgroup2\n29 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw");
  write("sys/fs/cgroup/a/memory.max", "");
  write("sys/fs/cgroup/a/cpu.max", "0 0");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Limits, RealProcessHasPositiveLimits) {
  EXPECT_EQ(cgroup_memory(""), cgroup_memory("/"));
  EXPECT_EQ(cgroup_cores(""), cgroup_cores("/"));
  EXPECT_GT(usable_memory(), size_t{1} << 20);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_GT(usable_addresses(), size_t{1} << 20);
}

}  // namespace
}  // namespace softnpu
