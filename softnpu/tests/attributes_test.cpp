#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {

std::string error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

TEST(Attributes, EveryListedAttributeHasAValue) {
  const aclCannAttr* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(aclGetCannAttributeList(&list, &count), ACL_SUCCESS);
  std::map<aclCannAttr, int32_t> values;
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(aclGetCannAttribute(list[i], &values[list[i]]), ACL_SUCCESS);
  EXPECT_EQ(values, (std::map<aclCannAttr, int32_t>{
                        {ACL_CANN_ATTR_INF_NAN, 1}, {ACL_CANN_ATTR_BF16, 1}, {ACL_CANN_ATTR_JIT_COMPILE, 0}}));
}

TEST(Attributes, BadInput) {
  const aclCannAttr* list = nullptr;
  size_t count = 0;
  int32_t value = 5;
  int64_t widened = 5;
  EXPECT_EQ(aclGetCannAttributeList(nullptr, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCannAttributeList(&list, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr), ACL_ERROR_INVALID_PARAM);
  (void)error();
  for (int unknown : {-1, 3}) {
    EXPECT_EQ(aclGetCannAttribute(static_cast<aclCannAttr>(unknown), &value), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(error().find("there is no attribute " + std::to_string(unknown)), std::string::npos);
    EXPECT_EQ(aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(unknown), &widened), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(error().find("there is no device capability " + std::to_string(unknown)), std::string::npos);
  }
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(99, ACL_DEVICE_INFO_AI_CORE_NUM, &widened), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(widened, 5);
}

TEST(Attributes, CapabilitiesMatchTheMachine) {
  int64_t cores = 0;
  ASSERT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &cores), ACL_SUCCESS);
  int64_t value = 0;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_EQ(value, cores);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_EQ(value, cores);
  // The size that the C library or the kernel reports of the last level; an error if neither does.
  std::vector<int64_t> reported = {sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE)};
  for (const char* index : {"3", "2"}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/index") + index + "/size");
    int64_t kilobytes = 0;
    if (file >> kilobytes) reported.push_back(kilobytes << 10);
  }
  std::erase_if(reported, [](int64_t bytes) { return bytes <= 0; });
  value = 0;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value),
            reported.empty() ? ACL_ERROR_FEATURE_UNSUPPORTED : ACL_SUCCESS);
  EXPECT_TRUE(reported.empty() ? value == 0 : std::ranges::count(reported, value) > 0) << value;
}

TEST(Attributes, BothVersionFunctionsAgree) {
  aclCANNPackageVersion version;
  ASSERT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_SUCCESS);
  std::array<char, ACL_PKG_VERSION_MAX_SIZE> text;
  text.fill('x');
  std::string package = "runtime";
  ASSERT_EQ(aclsysGetVersionStr(package.data(), text.data()), ACL_SUCCESS);
  EXPECT_STREQ(text.data(), version.version);
  EXPECT_EQ(std::strncmp(text.data(), version.majorVersion, std::strlen(version.majorVersion)), 0);
  EXPECT_EQ(aclsysGetVersionStr(nullptr, text.data()), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionStr(package.data(), nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
