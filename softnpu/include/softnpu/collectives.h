#pragma once
// What softnpu's libhccl exports beside HCCL's names. Look it up with dlsym: on a real CANN it is absent.

#include "hccl/hccl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Ends all calls of the communicator that wait for other ranks, here and on the other ranks: their streams report an
// error. From now on every call on it fails. It still has to be destroyed.
ACL_FUNC_VISIBILITY HcclResult softnpuCommAbort(HcclComm comm);

// What libhcomm's functions of these names do.
ACL_FUNC_VISIBILITY HcclResult softnpuGroupStart();
ACL_FUNC_VISIBILITY HcclResult softnpuGroupEnd();

#ifdef __cplusplus
}
#endif
