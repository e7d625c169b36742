#pragma once
// HCCL: collective operations between the ranks of a communicator, each of which has one device.
// Facts: callers in Ascend/pytorch (BSD-3-Clause), MindSpore and vllm-ascend (Apache-2.0). See PROVENANCE.md.
//
// Collectives return when they are enqueued on `stream`; counts are in elements. All ranks of a communicator call the
// same ones in the same order. A failure is the stream's error and HcclGetCommAsyncError's.

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- communicators ---
ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                                    HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                                          HcclCommConfig* config, HcclComm* comm);
// One communicator for each of `devices`, all in this process.
ACL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
// A rank that is not among `rankIds` passes null for them and gets a null communicator.
ACL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                                       uint64_t subCommId, uint32_t subCommRankId,
                                                       HcclCommConfig* config, HcclComm* subComm);
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
// `commName` has COMM_NAME_MAX_LENGTH bytes.
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm, char* commName);
ACL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
ACL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability();
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
ACL_FUNC_VISIBILITY const char* HcclGetErrorString(HcclResult code);

// --- collectives ---
ACL_FUNC_VISIBILITY HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                                             HcclReduceOp op, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                                             HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                                          HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                                 HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                                 aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatterV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                                                  const void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                                                  HcclReduceOp op, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                                             HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAllGatherV(const void* sendBuf, uint64_t sendCount, const void* recvBuf,
                                              const void* recvCounts, const void* rdispls, HcclDataType dataType,
                                              HcclComm comm, aclrtStream stream);
// `recvCount` elements for each rank.
ACL_FUNC_VISIBILITY HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                                           uint32_t root, HcclComm comm, aclrtStream stream);
// `sendCount` elements for each rank, `recvCount` from each.
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                                            const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                                            HcclComm comm, aclrtStream stream);
// Counts and displacements are arrays of uint64_t in host memory, one for each rank.
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                                             HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                                             const void* rdispls, HcclDataType recvType, HcclComm comm,
                                             aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

// --- between two ranks ---
ACL_FUNC_VISIBILITY HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                                        HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                                        HcclComm comm, aclrtStream stream);
// The parts progress together, whatever their order.
ACL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                                                 aclrtStream stream);
// Sends and receives of this thread between the two progress together. In libhcomm.
ACL_FUNC_VISIBILITY HcclResult HcclGroupStart();
ACL_FUNC_VISIBILITY HcclResult HcclGroupEnd();

// --- unsupported ---
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                             HcclCommConfig* config, HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup,
                                                        uint32_t nRanks);
ACL_FUNC_VISIBILITY HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t flag);
ACL_FUNC_VISIBILITY HcclResult HcclCommDeregister(HcclComm comm, void* handle);
ACL_FUNC_VISIBILITY HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks,
                                                   uint32_t peerRankNum);
ACL_FUNC_VISIBILITY HcclResult HcclCommResume(HcclComm comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommSetMemoryRange(HcclComm comm, void* virPtr, size_t size, size_t alignment,
                                                      uint64_t flags);
ACL_FUNC_VISIBILITY HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* virPtr);
ACL_FUNC_VISIBILITY HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset,
                                                          aclrtDrvMemHandle handle, uint64_t flags);
ACL_FUNC_VISIBILITY HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);

// The defaults: 200 MiB of buffer, everything else left to the library.
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  const size_t size = sizeof *config;
  const uint32_t words[2] = {0xf0f0f0f0, 6};
  memset(config, 0, size);
  memcpy(config->reserved, &size, sizeof size);
  memcpy(config->reserved + sizeof size, words, sizeof words);
  config->hcclBufferSize = 200;
  config->hcclDeterministic = 0xffffffff;
  config->hcclRdmaTrafficClass = 0xffffffff;
  config->hcclRdmaServiceLevel = 0xffffffff;
}

#ifdef __cplusplus
}
#endif
