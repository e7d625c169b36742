// Attacks on the shareable handles of physical memory.

#include <chrono>
#include <thread>

#include "sharing/sharing_fixture.h"

namespace sharing {
namespace {

// One page of physical memory, mapped and exported.
class HandleTest : public SharingTest {
 protected:
  void SetUp() override {
    SharingTest::SetUp();
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    ASSERT_EQ(aclrtMallocPhysical(&handle_, kPage, &prop, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtReserveMemAddress(&address_, kPage, 0, nullptr, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMapMem(address_, kPage, 0, handle_, 0), ACL_SUCCESS);
    fill(address_, 'a');
  }

  std::string export_to_anybody() {
    uint64_t number = 0;
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE,
                                              ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &number),
              ACL_SUCCESS);
    return std::to_string(number);
  }

  void free_it() {
    ASSERT_EQ(aclrtUnmapMem(address_), ACL_SUCCESS);
    ASSERT_EQ(aclrtFreePhysical(handle_), ACL_SUCCESS);
    ASSERT_EQ(aclrtReleaseMemAddress(address_), ACL_SUCCESS);
  }

  aclrtDrvMemHandle handle_ = nullptr;
  void* address_ = nullptr;
};

TEST_F(HandleTest, TheMemoryLivesUntilTheLastHandleGoes) {
  OtherProcess other("importer");
  ASSERT_EQ(other.ask("import-number " + export_to_anybody()), "ok");
  free_it();
  const std::vector<void*> next = fill_device('n');
  EXPECT_EQ(other.ask("read"), "a");
  ASSERT_EQ(other.ask("write x " + std::to_string(kPage)), "ok");
  EXPECT_EQ(count_changed(next, 'n'), 0u);
  EXPECT_EQ(other.ask("read"), "x");
  // The system ends the importer's share of it, too.
  const size_t held = free_memory();
  other.kill();
  while (free_memory() < held + kPage) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(HandleTest, AnOldNumberOpensNothing) {
  OtherProcess other("importer");
  const std::string freed = export_to_anybody();
  free_it();
  EXPECT_TRUE(other.ask("import-number " + freed).starts_with("error"));
  SetUp();
  const std::string reset = export_to_anybody();
  ASSERT_EQ(other.ask("import-number " + reset), "ok");
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const std::vector<void*> next = fill_device('n');
  EXPECT_TRUE(other.ask("import-number " + reset).starts_with("error"));
  EXPECT_EQ(other.ask("read"), "a");
}

TEST_F(HandleTest, OnlyNamedProcessesImport) {
  OtherProcess named("importer");
  OtherProcess stranger("importer");
  uint64_t number = 0;
  ASSERT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, ACL_RT_VMM_EXPORT_FLAG_DEFAULT, &number),
            ACL_SUCCESS);
  int32_t pid = named.pid();
  ASSERT_EQ(aclrtMemSetPidToShareableHandle(number, &pid, 1), ACL_SUCCESS);
  EXPECT_EQ(named.ask("import-number " + std::to_string(number)), "ok");
  EXPECT_EQ(stranger.ask("import-number " + std::to_string(number)),
            "error " + std::to_string(ACL_ERROR_RT_NO_PERMISSION));
  EXPECT_TRUE(named.ask("import-number " + std::to_string(number ^ 1)).starts_with("error"));
  EXPECT_NE(aclrtMemSetPidToShareableHandle(number ^ 1, &pid, 1), ACL_SUCCESS);
}

}  // namespace
}  // namespace sharing
