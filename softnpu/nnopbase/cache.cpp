#include "aclnn/acl_cache.h"

namespace {

aclOpExecutor* miss(uint64_t* workspace_size) {
  if (workspace_size != nullptr) *workspace_size = 0;
  return nullptr;
}

}  // namespace

int InitHugeMemThreadLocal(void*, bool) { return ACLNN_SUCCESS; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}

bool CanUsePTACache(const char*) { return false; }
void InitPTACacheThreadLocal(void) {}
void UnInitPTACacheThreadLocal(void) {}
void SetPTAHashKey(uint64_t) {}
void SetPTACacheHashKey(uint8_t*, size_t) {}
aclOpExecutor* PTAGetExecCache(uint64_t, uint64_t* workspaceSize) { return miss(workspaceSize); }
aclOpExecutor* PTAFindExecCache(uint8_t*, size_t, uint64_t* workspaceSize) { return miss(workspaceSize); }
void AddTensorAddrToCachedList(void*) {}
