#pragma once
// Dumps of operators' tensors: aclmdlInitDump, aclmdlSetDump, aclmdlFinalizeDump.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SOFTNPU_DUMP_INPUTS = 1,
  SOFTNPU_DUMP_OUTPUTS = 2,
};

// Which tensors of the operator `op` are dumped: both of the above, one, or 0.
ACL_FUNC_VISIBILITY int32_t softnpuDumps(const char* op);

typedef struct softnpuDumpTensor {
  aclDataType dtype;
  aclFormat format;
  const int64_t* dims;
  size_t rank;
  const void* bytes;  // contiguous
  size_t size;
} softnpuDumpTensor;

// Writes a file with the tensors of one run of `op`, a launch on the stream of number `streamId`.
ACL_FUNC_VISIBILITY aclError softnpuWriteDump(const char* op, int32_t streamId, const softnpuDumpTensor* inputs,
                                              size_t inputCount, const softnpuDumpTensor* outputs, size_t outputCount);

#ifdef __cplusplus
}
#endif
