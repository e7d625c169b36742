// Core limits, options, peers, device properties.

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

using SettingsTest = AclTest;

uint32_t cores_of_this_thread() {
  uint32_t cores = 0;
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores), ACL_SUCCESS);
  return cores;
}

TEST_F(SettingsTest, StreamLimitOverridesTheDeviceLimit) {
  int64_t all = 0;
  ASSERT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, &all), ACL_SUCCESS);
  const auto most = static_cast<uint32_t>(all);
  EXPECT_EQ(cores_of_this_thread(), most);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, most + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, static_cast<aclrtDevResLimitType>(5), 1), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 1), ACL_SUCCESS);
  uint32_t value = 0;
  ASSERT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1u);
  ASSERT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, most);
  EXPECT_EQ(cores_of_this_thread(), 1u);

  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1u);  // the device's
  ASSERT_EQ(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, most), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), 1u);
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), most);
  std::thread([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(cores_of_this_thread(), 1u);
  }).join();
  ASSERT_EQ(aclrtUnuseStreamResInCurrentThread(stream), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), 1u);
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetStreamResLimit(stream), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), 1u);
  ASSERT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), most);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(cores_of_this_thread(), most);  // the limit of a destroyed stream is not used
}

TEST_F(SettingsTest, AContextBeginsWithTheProcesssOptions) {
  int64_t value = -1;
  ASSERT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  ASSERT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);  // this context existed before
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
  ASSERT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(9), 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(SettingsTest, DeviceReportsItsProperties) {
  aclrtUuid first{};
  aclrtUuid again{};
  ASSERT_EQ(aclrtDeviceGetUuid(0, &first), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceGetUuid(0, &again), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
  EXPECT_NE(std::count(first.bytes, first.bytes + sizeof first.bytes, 0), 16);
  EXPECT_EQ(aclrtDeviceGetUuid(9, &first), ACL_ERROR_RT_INVALID_DEVICEID);
  int32_t own = -1;
  ASSERT_EQ(aclrtGetLogicDevIdByUserDevId(0, &own), ACL_SUCCESS);
  EXPECT_EQ(own, 0);
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(1, &own), ACL_ERROR_RT_INVALID_DEVICEID);
  uint32_t flags = 9;
  int32_t active = 0;
  ASSERT_EQ(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AICORE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SettingsTest, MemoryAndUtilizationAreReported) {
  aclrtMemUsageInfo usage{};
  size_t entries = 0;
  ASSERT_EQ(aclrtGetMemUsageInfo(0, &usage, 1, &entries), ACL_SUCCESS);
  ASSERT_EQ(entries, 1u);
  const uint64_t before = usage.curMemSize;
  void* device = nullptr;
  constexpr size_t kBytes = size_t{8} << 20;
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetMemUsageInfo(0, &usage, 1, &entries), ACL_SUCCESS);
  EXPECT_GE(usage.curMemSize, before + kBytes);
  EXPECT_GE(usage.memPeakSize, usage.curMemSize);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, &usage, 0, &entries), ACL_ERROR_INVALID_PARAM);
  aclrtUtilizationInfo busy{};
  ASSERT_EQ(aclrtGetDeviceUtilizationRate(0, &busy), ACL_SUCCESS);
  EXPECT_GE(busy.cubeUtilization, 0);
  EXPECT_LE(busy.cubeUtilization, 100);
  EXPECT_EQ(busy.aicpuUtilization, DEVICE_UTILIZATION_NOT_SUPPORT);
  aclrtErrorInfo error{};
  ASSERT_EQ(aclrtGetErrorVerbose(0, &error), ACL_SUCCESS);
  EXPECT_EQ(error.errorType, ACL_RT_NO_ERROR);
  EXPECT_EQ(aclrtRepairError(0, &error), ACL_ERROR_FEATURE_UNSUPPORTED);
  std::array<aclrtMemUceInfo, 2> uce{};
  size_t found = 9;
  ASSERT_EQ(aclrtGetMemUceInfo(0, uce.data(), uce.size(), &found), ACL_SUCCESS);
  EXPECT_EQ(found, 0u);
}

TEST_F(SettingsTest, PeersAreOtherDevices) {
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(recent_error().find("not a peer"), std::string::npos);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 3), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SettingsTest, ThereIsOneGroupOfCores) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetGroupCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtSetGroup(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetGroup(1), ACL_ERROR_RT_GROUP_NOT_CREATE);
  aclrtGroupInfo* info = aclrtCreateGroupInfo();
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(aclrtGetAllGroupInfo(info), ACL_SUCCESS);
  int32_t cores = 0;
  size_t bytes = 0;
  ASSERT_EQ(aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &cores, sizeof cores, &bytes), ACL_SUCCESS);
  EXPECT_GT(cores, 0);
  EXPECT_EQ(bytes, sizeof cores);
  EXPECT_EQ(aclrtGetGroupInfoDetail(info, 1, ACL_GROUP_AICORE_INT, &cores, sizeof cores, &bytes),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetGroupInfoDetail(info, 0, ACL_GROUP_AICORE_INT, &cores, 1, &bytes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyGroupInfo(info), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyGroupInfo(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(SettingsTest, AConfigurationFileMustBeReadable) {
  EXPECT_EQ(aclInit("/there/is/no/such/file.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("file.json cannot be read"), std::string::npos);
  EXPECT_EQ(aclInit(""), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
}

TEST_F(SettingsTest, InitialisationsAreCounted) {
  uint64_t left = 9;
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);  // the suite has called it
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  const uint64_t after_one = left;
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, after_one - 1);
  while (left > 0) ASSERT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_ERROR_UNINITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

}  // namespace
