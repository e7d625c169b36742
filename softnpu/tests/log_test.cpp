#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "acl/acl.h"
#include "base/log.h"
#include "base/log_file.h"

namespace {

// What aclAppLog prints to both streams.
template <typename... Args>
std::string printed(Args... args) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  aclAppLog(args...);
  return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
}

TEST(Log, IsOffByDefault) {
  EXPECT_EQ(printed(ACL_ERROR, "function", "file", 1u, "%s", "text"), "");
  EXPECT_EQ(printed(ACL_ERROR, nullptr, nullptr, 1u, nullptr), "");
}

// Of a process that logs.
TEST(Log, DISABLED_WritesEachLevel) {
  for (const int level : {-1, 0, 1, 2, 3, 4, 5, 99}) {
    aclAppLog(static_cast<aclLogLevel>(level), "function", "file", 1, "level %d;", level);
  }
}

// The levels that such a process prints from the given one on.
std::string levels_from(int level) {
  const std::string command = "ASCEND_SLOG_PRINT_TO_STDOUT=1 ASCEND_GLOBAL_LOG_LEVEL=" + std::to_string(level) + " " +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              " --gtest_filter=Log.DISABLED_WritesEachLevel --gtest_also_run_disabled_tests";
  const std::unique_ptr<FILE, int (*)(FILE*)> process(popen(command.c_str(), "r"), &pclose);
  std::string found;
  std::array<char, 4096> line{};
  while (process != nullptr && fgets(line.data(), line.size(), process.get()) != nullptr) {
    const std::string_view text(line.data());
    const size_t at = text.find("level ");
    if (at == std::string_view::npos || text.find(';', at) == std::string_view::npos) continue;
    found += std::string(text.substr(at + 6, text.find(';', at) - at - 6)) + " ";
  }
  return found;
}

// An invalid level must not match an invalid threshold either.
TEST(Log, LevelsThatDoNotExistAreIgnored) {
  EXPECT_EQ(levels_from(0), "0 1 2 3 ");
  EXPECT_EQ(levels_from(2), "2 3 ");
  EXPECT_EQ(levels_from(4), "");
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("softnpu_log_test_" + std::to_string(getpid()))) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string content(const std::string& file) {
  const std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  return all.str();
}

TEST(Log, FilesRotateAndTheOldestGoes) {
  const Folder folder;
  softnpu::LogFile file(folder.path() + "/deeper", 20);
  // Another instance, as another library of the process has, writes to the same file.
  softnpu::LogFile other(folder.path() + "/deeper", 20);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE((i % 2 == 0 ? file : other).write("line " + std::to_string(i) + " of 14\n"));
  EXPECT_EQ(content(file.path()), "line 6 of 14\n");
  for (int number = 1; number < softnpu::LogFile::kFiles; ++number) {
    EXPECT_EQ(content(file.path(number)), "line " + std::to_string(6 - number) + " of 14\n");
  }
  EXPECT_FALSE(std::filesystem::exists(file.path(softnpu::LogFile::kFiles)));
}

TEST(Log, AChildWritesItsOwnFile) {
  const Folder folder;
  softnpu::LogFile file(folder.path(), 1000);
  ASSERT_TRUE(file.write("parent\n"));
  const pid_t child = fork();
  if (child == 0) _exit(file.write("child\n") && content(file.path()) == "child\n" ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(file.path()), "parent\n");
}

TEST(Log, AFolderThatCannotBeMadeIsReported) {
  softnpu::LogFile file("/dev/null/logs", 1000);
  EXPECT_FALSE(file.write("line\n"));
}

TEST(Log, ModulesHaveTheirLevels) {
  EXPECT_EQ(softnpu::module_level("runtime=1,acl=0", "runtime", 3), 1);
  EXPECT_EQ(softnpu::module_level("runtime=1,acl=0", "acl", 3), 0);
  EXPECT_EQ(softnpu::module_level("runtime=1,acl=0", "op_compiler", 3), 3);
  for (const char* wrong : {"", "acl", "acl=", "acl=7", "acl=1x", ",,", "acl=-1"}) {
    EXPECT_EQ(softnpu::module_level(wrong, "acl", 3), 3) << wrong;
  }
}

}  // namespace
