#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"

namespace {

// What aclAppLog prints to both streams.
template <typename... Args>
std::string printed(Args... args) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  aclAppLog(args...);
  return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
}

// Logging is off by default. An invalid level must not match an invalid threshold.
TEST(Log, LevelsThatDoNotExistAreIgnored) {
  for (const int level : {0, 3, 4, 5, 99, -1}) {
    EXPECT_EQ(printed(static_cast<aclLogLevel>(level), "function", "file", 1u, "%s", "text"), "") << level;
  }
  EXPECT_EQ(printed(ACL_ERROR, nullptr, nullptr, 1u, nullptr), "");
}

}  // namespace
