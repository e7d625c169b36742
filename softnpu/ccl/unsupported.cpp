// Functions that libhccl exports and does not support.

#include "base/unsupported.h"

#include "ccl/api.h"
#include "hccl/hccl.h"

namespace {

constexpr const char* kClusterFile = "rank tables are for several hosts, which are not there yet: use HcclGetRootInfo";
constexpr const char* kWindow =
    "other ranks read device memory where it is: memory needs no registration with a communicator";
constexpr const char* kResume = "a communicator that failed stays so: destroy it and make another";
constexpr const char* kNic = "ranks of one host use no network card";

HcclResult unsupported(const char* function, const char* sentence) noexcept {
  return softnpu::ccl::result_of({softnpu::unsupported(function, sentence), {}});
}

}  // namespace

HcclResult HcclCommInitClusterInfo(const char*, uint32_t, HcclComm*) { return unsupported(__func__, kClusterFile); }
HcclResult HcclCommInitClusterInfoConfig(const char*, uint32_t, HcclCommConfig*, HcclComm*) {
  return unsupported(__func__, kClusterFile);
}
HcclResult HcclCommWorkingDevNicSet(HcclComm, uint32_t*, bool*, uint32_t) { return unsupported(__func__, kNic); }
HcclResult HcclCommRegister(HcclComm, void*, uint64_t, void**, uint32_t) { return unsupported(__func__, kWindow); }
HcclResult HcclCommDeregister(HcclComm, void*) { return unsupported(__func__, kWindow); }
HcclResult HcclCommExchangeMem(HcclComm, void*, uint32_t*, uint32_t) { return unsupported(__func__, kWindow); }
HcclResult HcclCommResume(HcclComm) { return unsupported(__func__, kResume); }
HcclResult HcclCommSetMemoryRange(HcclComm, void*, size_t, size_t, uint64_t) { return unsupported(__func__, kWindow); }
HcclResult HcclCommUnsetMemoryRange(HcclComm, void*) { return unsupported(__func__, kWindow); }
HcclResult HcclCommActivateCommMemory(HcclComm, void*, size_t, size_t, aclrtDrvMemHandle, uint64_t) {
  return unsupported(__func__, kWindow);
}
HcclResult HcclCommDeactivateCommMemory(HcclComm, void*) { return unsupported(__func__, kWindow); }
