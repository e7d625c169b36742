#include "acl/acl_rt_allocator.h"

#include "acl_fixture.h"

namespace {

void* allocate(aclrtAllocator, size_t) { return nullptr; }
void release(aclrtAllocator, aclrtAllocatorBlock) {}
void* allocate_at(aclrtAllocator, size_t, aclrtAllocatorAddr) { return nullptr; }
void* address(aclrtAllocatorBlock block) { return block; }

class AllocatorDescTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_NE(desc, nullptr);
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  }
  void TearDown() override {
    ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    AclTest::TearDown();
  }

  void complete() {
    int object = 0;
    ASSERT_EQ(aclrtAllocatorSetObjToDesc(desc, &object), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc, allocate), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc, release), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, allocate_at), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address), ACL_SUCCESS);
  }

  aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
  aclrtStream stream = nullptr;
};

TEST_F(AllocatorDescTest, ARegistrationOutlivesItsDescription) {
  complete();
  EXPECT_EQ(aclrtAllocatorRegister(stream, desc), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(stream, desc), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorUnregister(stream), ACL_SUCCESS);
  (void)recent_error();
  EXPECT_EQ(aclrtAllocatorUnregister(stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("no allocator is registered for the stream"), std::string::npos);
}

TEST_F(AllocatorDescTest, RegistrationsBelongToOneStream) {
  complete();
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(other, desc), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorUnregister(stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtAllocatorUnregister(nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorUnregister(other), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtAllocatorRegister(other, desc), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
}

// A new stream may get a destroyed one's address, but not its registration.
TEST_F(AllocatorDescTest, ANewStreamHasNoAllocator) {
  complete();
  for (int i = 0; i < 20; ++i) {
    aclrtStream other = nullptr;
    ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    EXPECT_EQ(aclrtAllocatorUnregister(other), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorRegister(other, desc), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(AllocatorDescTest, IncompleteDescriptionsAreRefused) {
  (void)recent_error();
  EXPECT_EQ(aclrtAllocatorRegister(stream, desc), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("the description lacks a function"), std::string::npos);
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(AllocatorDescTest, InvalidHandlesAreErrors) {
  ASSERT_EQ(aclrtAllocatorDestroyDesc(desc), ACL_SUCCESS);
  for (aclrtAllocatorDesc handle : {static_cast<aclrtAllocatorDesc>(nullptr), desc}) {
    EXPECT_EQ(aclrtAllocatorDestroyDesc(handle), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorSetObjToDesc(handle, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(handle, allocate), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(handle, release), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(handle, allocate_at), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(handle, address), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtAllocatorRegister(stream, handle), ACL_ERROR_INVALID_PARAM);
  }
}

}  // namespace
