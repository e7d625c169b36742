#include "acl/acl_rt.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "acl_fixture.h"

namespace {

constexpr size_t kPage = size_t{2} << 20;

aclrtPhysicalMemProp on_device(uint32_t id) {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {id, ACL_MEM_LOCATION_TYPE_DEVICE};
  return prop;
}

size_t free_memory() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  return free;
}

aclError write(void* device, const std::vector<char>& data) {
  return aclrtMemcpy(device, data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE);
}

std::vector<char> read(const void* device, size_t size) {
  std::vector<char> data(size);
  EXPECT_EQ(aclrtMemcpy(data.data(), size, device, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return data;
}

class VirtualMemoryTest : public AclTest {
 protected:
  aclrtDrvMemHandle physical(size_t size) {
    aclrtDrvMemHandle handle = nullptr;
    aclrtPhysicalMemProp prop = on_device(0);
    EXPECT_EQ(aclrtMallocPhysical(&handle, size, &prop, 0), ACL_SUCCESS);
    return handle;
  }
};

TEST_F(VirtualMemoryTest, TheGranularityIsAPage) {
  aclrtPhysicalMemProp prop = on_device(0);
  for (const auto option : {ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED}) {
    size_t bytes = 0;
    EXPECT_EQ(aclrtMemGetAllocationGranularity(&prop, option, &bytes), ACL_SUCCESS);
    EXPECT_EQ(bytes, kPage);
  }
  size_t bytes = 0;
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF, &bytes),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &bytes),
            ACL_ERROR_INVALID_PARAM);
  prop = on_device(1000);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &bytes),
            ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(VirtualMemoryTest, TwoMappingsFormOneRange) {
  const size_t before = free_memory();
  void* base = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&base, 4 * kPage, 0, nullptr, 1), ACL_SUCCESS);
  EXPECT_EQ(free_memory(), before);
  auto* at = static_cast<char*>(base);
  aclrtDrvMemHandle first = physical(kPage);
  aclrtDrvMemHandle second = physical(2 * kPage);
  EXPECT_EQ(free_memory(), before - 3 * kPage);
  ASSERT_EQ(aclrtMapMem(at, kPage, 0, first, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(at + kPage, kPage, kPage, second, 0), ACL_SUCCESS);
  std::vector<char> data(2 * kPage);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7);
  ASSERT_EQ(write(at, data), ACL_SUCCESS);
  EXPECT_EQ(read(at, data.size()), data);
  EXPECT_NE(write(at + kPage, data), ACL_SUCCESS);  // extends into unmapped addresses

  // Mapped at another address, the memory still has its bytes.
  ASSERT_EQ(aclrtUnmapMem(at + kPage), ACL_SUCCESS);
  EXPECT_NE(write(at, data), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(at + 3 * kPage, kPage, kPage, second, 0), ACL_SUCCESS);
  EXPECT_EQ(read(at + 3 * kPage, kPage), std::vector<char>(data.begin() + kPage, data.end()));

  EXPECT_NE(aclrtReleaseMemAddress(base), ACL_SUCCESS);  // it has a mapping
  ASSERT_EQ(aclrtFreePhysical(second), ACL_SUCCESS);
  EXPECT_EQ(free_memory(), before - 3 * kPage);  // the memory lives as long as its mapping
  ASSERT_EQ(aclrtUnmapMem(at + 3 * kPage), ACL_SUCCESS);
  EXPECT_EQ(free_memory(), before - kPage);
  ASSERT_EQ(aclrtUnmapMem(at), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(base), ACL_SUCCESS);
  EXPECT_EQ(free_memory(), before);
}

TEST_F(VirtualMemoryTest, InvalidRangesAreErrors) {
  void* base = nullptr;
  EXPECT_NE(aclrtReserveMemAddress(&base, 0, 0, nullptr, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtReserveMemAddress(&base, kPage, 4 * kPage, nullptr, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtReserveMemAddress(&base, ~size_t{0}, 0, nullptr, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtReserveMemAddress(&base, kPage, 0, nullptr, 0), ACL_SUCCESS);
  aclrtDrvMemHandle handle = nullptr;
  aclrtPhysicalMemProp prop = on_device(0);
  EXPECT_NE(aclrtMallocPhysical(&handle, 1000, &prop, 0), ACL_SUCCESS);
  prop = on_device(99);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &prop, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  handle = physical(2 * kPage);
  EXPECT_NE(aclrtMapMem(base, 2 * kPage, 0, handle, 0), ACL_SUCCESS);  // beyond the reservation
  EXPECT_NE(aclrtMapMem(base, kPage, 100, handle, 0), ACL_SUCCESS);
  int local = 0;
  EXPECT_NE(aclrtMapMem(base, kPage, 0, &local, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(base, kPage, 0, handle, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtMapMem(base, kPage, kPage, handle, 0), ACL_SUCCESS);  // already mapped
  EXPECT_NE(aclrtUnmapMem(static_cast<char*>(base) + 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnmapMem(base), ACL_SUCCESS);
  EXPECT_NE(aclrtUnmapMem(base), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_NE(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_NE(aclrtMapMem(base, kPage, 0, handle, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(base), ACL_SUCCESS);
  EXPECT_NE(aclrtReleaseMemAddress(base), ACL_SUCCESS);
}

TEST_F(VirtualMemoryTest, AKeyOpensTheSameBytes) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096 + 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto* inside = static_cast<char*>(block) + 512;
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  EXPECT_NE(aclrtIpcMemGetExportKey(inside, 1 << 20, key.data(), key.size(), 0), ACL_SUCCESS);
  EXPECT_NE(aclrtIpcMemGetExportKey(inside, 4096, key.data(), 10, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtIpcMemGetExportKey(inside, 4096, key.data(), key.size(), 0), ACL_SUCCESS);
  void* opened = nullptr;
  ASSERT_EQ(aclrtIpcMemImportByKey(&opened, key.data(), 0), ACL_SUCCESS);
  EXPECT_NE(opened, inside);
  std::vector<char> data(4096, 'x');
  ASSERT_EQ(write(opened, data), ACL_SUCCESS);
  EXPECT_EQ(read(inside, 4096), data);
  void* again = nullptr;
  ASSERT_EQ(aclrtIpcMemImportByKey(&again, key.data(), 0), ACL_SUCCESS);
  EXPECT_EQ(again, opened);
  ASSERT_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  EXPECT_EQ(read(opened, 4096), data);  // still opened once
  ASSERT_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  EXPECT_NE(write(opened, data), ACL_SUCCESS);
  EXPECT_NE(aclrtIpcMemImportByKey(&opened, "nonsense", 0), ACL_SUCCESS);
  std::string stranger = key.data();
  char& digit = stranger[std::strlen("softnpu-")];
  digit = digit == 'f' ? 'e' : 'f';  // a different number
  EXPECT_NE(aclrtIpcMemImportByKey(&opened, stranger.c_str(), 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

}  // namespace
