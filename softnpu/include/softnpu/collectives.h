#pragma once
// What softnpu's libhccl exports beside HCCL's names. Look it up with dlsym: on a real CANN it is absent.

#include "hccl/hccl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Ends all calls of the communicator that wait for other ranks, here and on the other ranks: their streams report an
// error. From now on every call on it fails. It still has to be destroyed.
ACL_FUNC_VISIBILITY HcclResult softnpuCommAbort(HcclComm comm);

// Root information for softnpuCommInitInBackground; any rank makes it and passes it to the others. Listens nowhere.
ACL_FUNC_VISIBILITY HcclResult softnpuMakeRootInfo(HcclRootInfo* rootInfo);

// Makes the communicator and returns at once: the ranks meet in the background. Calls on it are enqueued as on any
// other; their streams wait until all ranks have come, for HCCL_EXEC_TIMEOUT at most. `rankIds`: the numbers that
// errors give the ranks, the same on all of them. A null config is the default; the name in it, too, is the same on
// all.
ACL_FUNC_VISIBILITY HcclResult softnpuCommInitInBackground(uint32_t nRanks, const uint32_t* rankIds,
                                                           const HcclRootInfo* rootInfo, uint32_t rank,
                                                           HcclCommConfig* config, HcclComm* comm);

// What libhcomm's functions of these names do.
ACL_FUNC_VISIBILITY HcclResult softnpuGroupStart();
ACL_FUNC_VISIBILITY HcclResult softnpuGroupEnd();

#ifdef __cplusplus
}
#endif
