#include <gtest/gtest.h>

#include "acl/acl.h"

// Logging is off by default. An invalid level must not match an invalid threshold.
TEST(Log, LevelsThatDoNotExistAreIgnored) {
  for (const int level : {0, 3, 4, 5, 99, -1}) {
    EXPECT_NO_THROW(aclAppLog(static_cast<aclLogLevel>(level), "function", "file", 1, "%s", "text")) << level;
  }
  EXPECT_NO_THROW(aclAppLog(ACL_ERROR, nullptr, nullptr, 1, nullptr));
}
