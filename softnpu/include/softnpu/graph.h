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

// The lists of sizes that a model may be compiled with.
enum {
  SOFTNPU_SIZES_FIXED = 0,  // or open without a list
  SOFTNPU_SIZES_BATCH = 1,  // the batch of all inputs
  SOFTNPU_SIZES_IMAGE = 2,  // height and width
  SOFTNPU_SIZES_DIMS = 3,   // all open sizes in the inputs' order
};

// Sizes of a tensor.
typedef struct softnpuSizes {
  const int64_t* dims;
  size_t rank;
} softnpuSizes;

// An input or output; open sizes are -1, and `bytes` then those of the largest entry of the list, or 0.
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
  int32_t isUnfused;  // 1: every operator runs as a task of its own (SOFTNPU_FUSE=0)
} softnpuModelMemory;

// Bytes of device memory that a model needs.
typedef aclError softnpuModelQuery(const softnpuModelFile* file, size_t* work, size_t* weights);
// Loads a model onto the current device.
typedef aclError softnpuModelLoad(const softnpuModelFile* file, const softnpuModelMemory* memory, softnpuModel** model);
typedef void softnpuModelUnload(softnpuModel* model);
typedef size_t softnpuModelCount(const softnpuModel* model, int32_t is_output);
typedef void softnpuModelDescribe(const softnpuModel* model, int32_t is_output, size_t index, softnpuModelTensor* out);
// Gets the outputs of one run, whose sizes are known; the tensor lives during the call.
typedef void softnpuReport(void* state, size_t index, const softnpuModelTensor* tensor);
// One run: buffers and, if the model's sizes are open, those of all inputs.
typedef struct softnpuModelCall {
  const softnpuBuffer* inputs;
  size_t inputCount;
  const softnpuBuffer* outputs;
  size_t outputCount;
  const softnpuSizes* sizes;  // null: fixed
  size_t sizeCount;
  softnpuReport* report;  // null: not wanted
  void* state;
} softnpuModelCall;
// Launches the model on `stream`. Without one it waits until the results are there.
typedef aclError softnpuModelRun(softnpuModel* model, const softnpuModelCall* call, aclrtStream stream);
// Reports the outputs for sizes without a run.
typedef aclError softnpuModelResolve(softnpuModel* model, const softnpuModelCall* call);
// The list of sizes; returns its kind. `entries` of `width` numbers each live as long as the model.
typedef int32_t softnpuModelList(const softnpuModel* model, const int64_t** entries, size_t* count, size_t* width);
// The sizes of all inputs for an entry of the list.
typedef aclError softnpuModelSizes(softnpuModel* model, const int64_t* entry, size_t width,
                                   void (*report)(void* state, size_t index, const softnpuSizes* sizes), void* state);
// Whether sizes are open.
typedef int32_t softnpuModelIsOpen(const softnpuModel* model);

typedef struct softnpuGraphEngine {
  softnpuModelQuery* query;
  softnpuModelLoad* load;
  softnpuModelUnload* unload;
  softnpuModelCount* count;
  softnpuModelDescribe* describe;
  softnpuModelRun* run;
  softnpuModelResolve* resolve;
  softnpuModelList* list;
  softnpuModelSizes* sizes;
  softnpuModelIsOpen* is_open;
} softnpuGraphEngine;

// Compiles a serialized model of ONNX with fixed sizes on the current device, as the program atc does with a file.
// `compiled` is released by softnpuReleaseModelFile.
ACL_FUNC_VISIBILITY aclError softnpuCompileModel(const softnpuModelFile* onnx, softnpuModelFile* compiled);
ACL_FUNC_VISIBILITY void softnpuReleaseModelFile(const softnpuModelFile* compiled);

ACL_FUNC_VISIBILITY const softnpuGraphEngine* softnpuGetGraphEngine(void);

#ifdef __cplusplus
}
#endif
