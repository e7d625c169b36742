// PyTorch's plug-in looks up all of aclnn's objects in libopapi, by name.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "aclnn/acl_cache.h"
#include "aclnn/acl_meta.h"

namespace {

TEST(SymbolsTest, LibopapiExportsTheObjectFunctions) {
  void* library = dlopen("libopapi.so", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const char* name : {"aclCreateTensor",
                           "aclDestroyTensor",
                           "softnpuInitTensor",
                           "aclCreateScalar",
                           "aclDestroyScalar",
                           "aclCreateIntArray",
                           "aclDestroyIntArray",
                           "aclCreateFloatArray",
                           "aclDestroyFloatArray",
                           "aclCreateBoolArray",
                           "aclDestroyBoolArray",
                           "aclCreateTensorList",
                           "aclDestroyTensorList",
                           "aclCreateScalarList",
                           "aclDestroyScalarList",
                           "aclGetViewShape",
                           "aclnnInit",
                           "aclnnFinalize",
                           "aclSetTensorAddr",
                           "aclSetDynamicTensorAddr",
                           "aclSetAclOpExecutorRepeatable",
                           "aclDestroyAclOpExecutor",
                           "InitHugeMemThreadLocal",
                           "UnInitHugeMemThreadLocal",
                           "ReleaseHugeMem",
                           "CanUsePTACache",
                           "InitPTACacheThreadLocal",
                           "UnInitPTACacheThreadLocal",
                           "SetPTAHashKey",
                           "SetPTACacheHashKey",
                           "PTAGetExecCache",
                           "PTAFindExecCache",
                           "AddTensorAddrToCachedList"}) {
    EXPECT_NE(dlsym(library, name), nullptr) << name;
  }
  dlclose(library);
}

TEST(SymbolsTest, TheCacheOfExecutorsIsEmpty) {
  EXPECT_EQ(InitHugeMemThreadLocal(nullptr, false), 0);
  EXPECT_FALSE(CanUsePTACache("aclnnAdd"));
  EXPECT_FALSE(CanUsePTACache(nullptr));
  InitPTACacheThreadLocal();
  SetPTAHashKey(42);
  uint64_t size = 99;
  EXPECT_EQ(PTAGetExecCache(42, &size), nullptr);
  EXPECT_EQ(size, 0);
  uint8_t key[] = {4, 2};
  SetPTACacheHashKey(key, sizeof key);
  EXPECT_EQ(PTAFindExecCache(key, sizeof key, nullptr), nullptr);
  AddTensorAddrToCachedList(&size);
  UnInitPTACacheThreadLocal();
  ReleaseHugeMem(nullptr, false);
  UnInitHugeMemThreadLocal(nullptr, false);
}

TEST(SymbolsTest, InitAndFinalizeMayBeCalledRepeatedly) {
  EXPECT_EQ(aclnnInit(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclnnInit(nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclnnFinalize(), ACLNN_SUCCESS);
  EXPECT_EQ(aclnnFinalize(), ACLNN_SUCCESS);
}

}  // namespace
