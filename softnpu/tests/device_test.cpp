#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "acl_fixture.h"
#include "softnpu/softnpu.h"

namespace {

using DeviceTest = AclTest;

TEST_F(DeviceTest, InitialisesOnce) { EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE); }

TEST_F(DeviceTest, AThreadWithoutDeviceHasNoContext) {
  std::thread([] {
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 16, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

TEST_F(DeviceTest, WrongIndexIsNamed) {
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(recent_error().find("device 99 does not exist"), std::string::npos);
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
}

TEST_F(DeviceTest, NullOutputsAreErrors) {
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceTest, MemoryInfoFollowsAllocations) {
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, size_t{2} << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
  EXPECT_EQ(before - after, size_t{2} << 20);
  EXPECT_EQ(aclrtMalloc(&block, total, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST_F(DeviceTest, EveryPointerLiesInTheDevicesRange) {
  void* base = nullptr;
  size_t size = 0;
  void* block = nullptr;
  ASSERT_EQ(softnpuDeviceRange(0, &base, &size), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_GE(block, base);
  EXPECT_LT(static_cast<char*>(block), static_cast<char*>(base) + size);
}

TEST_F(DeviceTest, ContextsBelongToTheirDevice) {
  aclrtContext context = nullptr;
  aclrtContext current = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, context);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceTest, VersionsAreReported) {
  aclCANNPackageVersion version;
  ASSERT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_SUCCESS);
  EXPECT_GT(std::strlen(version.version), 0u);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
}

TEST_F(DeviceTest, ResetListenersRunBeforeAnythingIsDropped) {
  // Listeners stay registered until the process ends.
  static void* block = nullptr;
  static int heard = 0;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(softnpuOnDeviceReset([](int32_t device) {
              EXPECT_EQ(device, 0);
              void* kernel = nullptr;
              if (++heard > 1) return;  // a reset by the fixture
              EXPECT_EQ(softnpuKernelAddress(block, 64, &kernel), ACL_SUCCESS);
            }),
            ACL_SUCCESS);
  EXPECT_NE(softnpuOnDeviceReset(nullptr), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  EXPECT_EQ(heard, 1);
  void* kernel = nullptr;
  EXPECT_NE(softnpuKernelAddress(block, 64, &kernel), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceTest, TheLastResetReleasesTheDevice) {
  // With the fixture's, the device is set twice.
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  void* block = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 0, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(block, 64, 0, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(block, 64, 0, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceTest, DeviceCallsInAForkedChildFail) {
  pid_t child = fork();
  if (child == 0) {
    bool refused = aclrtSetDevice(0) != ACL_SUCCESS;
    const char* message = aclGetRecentErrMsg();
    bool told = message != nullptr && std::strstr(message, "fork") != nullptr;
    _exit(refused && told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
