#pragma once
// What libascendcl calls of the graph engine, libsoftnpu_graph, which it loads at the first model. Errors leave their
// message in aclGetRecentErrMsg.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct softnpuModel softnpuModel;

// An input or output.
typedef struct softnpuModelTensor {
  const char* name;  // lives as long as the model
  aclDataType dtype;
  aclFormat format;
  const int64_t* dims;
  size_t rank;
  size_t bytes;
} softnpuModelTensor;

typedef struct softnpuBuffer {
  void* data;
  size_t bytes;
} softnpuBuffer;

// The contents of a file, which may be changed after the call.
typedef struct softnpuModelFile {
  const void* data;
  size_t bytes;
} softnpuModelFile;

// Where a model is: null for memory of its own.
typedef struct softnpuModelMemory {
  softnpuBuffer work;
  softnpuBuffer weights;
} softnpuModelMemory;

// Bytes of device memory that a model needs.
typedef aclError softnpuModelQuery(const softnpuModelFile* file, size_t* work, size_t* weights);
// Loads a model onto the current device.
typedef aclError softnpuModelLoad(const softnpuModelFile* file, const softnpuModelMemory* memory, softnpuModel** model);
typedef void softnpuModelUnload(softnpuModel* model);
typedef size_t softnpuModelCount(const softnpuModel* model, int32_t is_output);
typedef void softnpuModelDescribe(const softnpuModel* model, int32_t is_output, size_t index, softnpuModelTensor* out);
// Launches the model on `stream`. Without one it waits until the results are there.
typedef aclError softnpuModelRun(softnpuModel* model, const softnpuBuffer* inputs, size_t inputCount,
                                 const softnpuBuffer* outputs, size_t outputCount, aclrtStream stream);

typedef struct softnpuGraphEngine {
  softnpuModelQuery* query;
  softnpuModelLoad* load;
  softnpuModelUnload* unload;
  softnpuModelCount* count;
  softnpuModelDescribe* describe;
  softnpuModelRun* run;
} softnpuGraphEngine;

// Compiles a serialized model of ONNX with fixed sizes on the current device, as the program atc does with a file.
// `compiled` is released by softnpuReleaseModelFile.
ACL_FUNC_VISIBILITY aclError softnpuCompileModel(const softnpuModelFile* onnx, softnpuModelFile* compiled);
ACL_FUNC_VISIBILITY void softnpuReleaseModelFile(const softnpuModelFile* compiled);

ACL_FUNC_VISIBILITY const softnpuGraphEngine* softnpuGetGraphEngine(void);

#ifdef __cplusplus
}
#endif
