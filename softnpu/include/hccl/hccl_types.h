#pragma once
// HCCL's types: results, data types, reductions, communicators and their configuration.
// Facts: callers in Ascend/pytorch (BSD-3-Clause), MindSpore and vllm-ascend (Apache-2.0). See PROVENANCE.md.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_ROOT_INFO_BYTES 4108
#define COMM_NAME_MAX_LENGTH 128
#define UDI_MAX_LENGTH 128

typedef enum {
  HCCL_SUCCESS = 0,
  HCCL_E_PARA = 1,
  HCCL_E_PTR = 2,
  HCCL_E_MEMORY = 3,
  HCCL_E_INTERNAL = 4,
  HCCL_E_NOT_SUPPORT = 5,
  HCCL_E_TIMEOUT = 9,
  HCCL_E_REMOTE = 21,
} HcclResult;

typedef enum {
  HCCL_DATA_TYPE_INT8 = 0,
  HCCL_DATA_TYPE_INT16 = 1,
  HCCL_DATA_TYPE_INT32 = 2,
  HCCL_DATA_TYPE_FP16 = 3,
  HCCL_DATA_TYPE_FP32 = 4,
  HCCL_DATA_TYPE_INT64 = 5,
  HCCL_DATA_TYPE_UINT64 = 6,
  HCCL_DATA_TYPE_UINT8 = 7,
  HCCL_DATA_TYPE_UINT16 = 8,
  HCCL_DATA_TYPE_UINT32 = 9,
  HCCL_DATA_TYPE_FP64 = 10,
  HCCL_DATA_TYPE_BFP16 = 11,
} HcclDataType;

typedef enum {
  HCCL_REDUCE_SUM = 0,
  HCCL_REDUCE_PROD = 1,
  HCCL_REDUCE_MAX = 2,
  HCCL_REDUCE_MIN = 3,
} HcclReduceOp;

typedef enum {
  HCCL_SEND = 0,
  HCCL_RECV = 1,
  HCCL_SEND_RECV_RESERVED = 2,
} HcclSendRecvType;

typedef enum {
  HCCL_DETERMINISTIC = 0,
} HcclConfig;

typedef union {
  int32_t value;
} HcclConfigValue;

// A part of HcclCommConfig that a library may not know: it does if HcclGetCommConfigCapability returns more.
typedef enum {
  HCCL_COMM_CONFIG_COMM_NAME = 2,
} HcclCommConfigCapability;

typedef void* HcclComm;

// Opaque: the first rank gets it and gives it to the others, by means of its own.
typedef struct {
  char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

// Filled by HcclCommConfigInit, then changed.
typedef struct {
  char reserved[24];        // size of the struct as size_t, then magic word and version as uint32_t
  uint32_t hcclBufferSize;  // MiB
  uint32_t hcclDeterministic;
  char hcclCommName[COMM_NAME_MAX_LENGTH];
  char hcclUdi[UDI_MAX_LENGTH];
  uint32_t hcclOpExpansionMode;
  uint32_t hcclRdmaTrafficClass;
  uint32_t hcclRdmaServiceLevel;
  uint32_t hcclWorldRankID;
  uint64_t hcclJobID;
} HcclCommConfig;

// One part of HcclBatchSendRecv.
typedef struct {
  HcclSendRecvType sendRecvType;
  void* buf;
  uint64_t count;
  HcclDataType dataType;
  uint32_t remoteRank;
} HcclSendRecvItem;

#ifdef __cplusplus
}
#endif
