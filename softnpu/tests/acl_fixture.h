#pragma once

#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "softnpu/softnpu.h"

// Sets up device 0 on the test's thread, and resets it afterwards, so that tests do not affect each other.
class AclTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { (void)aclInit(nullptr); }
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override { ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS); }

  static std::string recent_error() {
    const char* message = aclGetRecentErrMsg();
    return message == nullptr ? "" : message;
  }

  // Copies to and from device memory, which the host may not be able to access (SOFTNPU_PROTECT=1).
  template <typename T>
  static void upload(void* device, const T& value) {
    ASSERT_EQ(aclrtMemcpy(device, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  template <typename T>
  static T download(const void* device) {
    T value{};
    EXPECT_EQ(aclrtMemcpy(&value, sizeof value, device, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return value;
  }
};
