#include <array>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

using HostMemoryTest = AclTest;

TEST_F(HostMemoryTest, RegisteredMemoryIsCopiedInStreamOrder) {
  std::vector<char> own(4096, 1);
  void* seen = nullptr;
  ASSERT_EQ(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, own.data());
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, own.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream), ACL_SUCCESS);
  // With pageable memory this call would wait for the blocking task.
  ASSERT_EQ(aclrtMemcpyAsync(device, own.size(), own.data(), own.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(download<char>(static_cast<char*>(device) + own.size() - 1), 1);
  void* kernel = nullptr;
  EXPECT_EQ(softnpuKernelAddress(own.data(), own.size(), &kernel), ACL_SUCCESS);
  EXPECT_EQ(kernel, own.data());
  EXPECT_EQ(aclrtHostUnregister(own.data()), ACL_SUCCESS);
  EXPECT_NE(softnpuKernelAddress(own.data(), own.size(), &kernel), ACL_SUCCESS);
}

TEST_F(HostMemoryTest, RegistrationsDoNotOverlapAndEndOnce) {
  std::vector<char> own(4096);
  ASSERT_EQ(aclrtHostRegisterV2(own.data() + 1024, 1024, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegisterV2(own.data() + 2047, 8, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data() + 1000, 100, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data() + 2048, 8, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(own.data() + 2048), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(own.data() + 1024), ACL_ERROR_RT_PARAM_INVALID);  // registered, not allocated
  EXPECT_EQ(aclrtHostUnregister(own.data() + 1024), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(own.data() + 1024), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data(), 8, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegisterV2(nullptr, 8, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data(), 0, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data(), SIZE_MAX, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(own.data(), SIZE_MAX / 2, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(pinned), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegisterV2(device, 64, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(HostMemoryTest, AllocatesWithAttributes) {
  aclrtMallocAttribute attribute{ACL_RT_MEM_ATTR_MODULE_ID, {}};
  aclrtMallocConfig config{&attribute, 1};
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHostWithCfg(&host, 128, &config), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHostWithCfg(&host, 128, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  attribute.attr = static_cast<aclrtMallocAttrType>(77);
  EXPECT_EQ(aclrtMallocHostWithCfg(&host, 128, &config), ACL_ERROR_INVALID_PARAM);
  config.attrs = nullptr;
  EXPECT_EQ(aclrtMallocHostWithCfg(&host, 128, &config), ACL_ERROR_INVALID_PARAM);
}

TEST_F(HostMemoryTest, AddressesAreClassified) {
  void* device = nullptr;
  void* pinned = nullptr;
  int stack = 0;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  const auto type = [](const void* address) {
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(address, &attributes), ACL_SUCCESS);
    EXPECT_GT(attributes.pageSize, 0u);
    return attributes.location.type;
  };
  EXPECT_EQ(type(static_cast<char*>(device) + 63), ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(type(pinned), ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(type(&stack), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtPointerGetAttributes(device, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

}  // namespace
