#pragma once
// Graphs that a program builds node by node, without a model's file: what libsoftnpu_graph offers to the plug-in. Nodes
// are operators by the name of their type. Errors leave their message in aclGetRecentErrMsg.

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "softnpu/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct softnpuBuiltGraph softnpuBuiltGraph;

enum {
  SOFTNPU_VALUE_INPUT = 0,      // given at each run
  SOFTNPU_VALUE_PARAMETER = 1,  // device memory that is read where it is; it must live at each run
  SOFTNPU_VALUE_CONSTANT = 2,   // bytes in host memory, which are copied
};

typedef struct softnpuGraphValue {
  int32_t kind;
  aclDataType dtype;
  softnpuSizes sizes;
  softnpuBuffer bytes;  // of parameters and constants
} softnpuGraphValue;

// An input of a node: a value, -1 for an optional one that is omitted. `onHost`: the operator needs the bytes, which
// depend on constants only, when it is planned.
typedef struct softnpuGraphOperand {
  int32_t value;
  int32_t onHost;
} softnpuGraphOperand;

enum {
  SOFTNPU_ATTRIBUTE_BOOL = 0,     // integer
  SOFTNPU_ATTRIBUTE_INTEGER = 1,  // integer
  SOFTNPU_ATTRIBUTE_REAL = 2,     // real
  SOFTNPU_ATTRIBUTE_WORDS = 3,    // words
  SOFTNPU_ATTRIBUTE_LIST = 4,     // list, count
};

typedef struct softnpuGraphAttribute {
  const char* name;
  int32_t kind;
  int64_t integer;
  double real;
  const char* words;
  const int64_t* list;
  size_t count;
} softnpuGraphAttribute;

typedef struct softnpuGraphNode {
  const char* type;
  const char* name;  // for errors
  const softnpuGraphOperand* operands;
  size_t operandCount;
  const softnpuGraphAttribute* attributes;
  size_t attributeCount;
} softnpuGraphNode;

typedef struct softnpuGraphMemory {
  size_t work;
  size_t weights;     // constants, and what is computed from them and parameters
  size_t parameters;  // of the program
} softnpuGraphMemory;

// Values have numbers. Functions are called with a current device, by one thread at a time; `run` by any.
typedef struct softnpuGraphBuilder {
  aclError (*create)(softnpuBuiltGraph** out);
  void (*destroy)(softnpuBuiltGraph* graph);
  aclError (*addValue)(softnpuBuiltGraph* graph, const softnpuGraphValue* value, int32_t* out);
  // The elements of `value` with other sizes.
  aclError (*addView)(softnpuBuiltGraph* graph, int32_t value, const softnpuSizes* sizes, int32_t* out);
  // Reports the results. Fails where the operator does not take the operands.
  aclError (*addNode)(softnpuBuiltGraph* graph, const softnpuGraphNode* node,
                      void (*report)(void* state, int32_t value), void* state);
  // The type and sizes of a value; they live until the next value is added.
  aclError (*describe)(const softnpuBuiltGraph* graph, int32_t value, softnpuModelTensor* out);
  // Runs the passes and plans; nothing can be added afterwards.
  aclError (*compile)(softnpuBuiltGraph* graph, const int32_t* outputs, size_t count, int32_t isUnfused);
  // Launches the graph. Inputs are in the order in which they were added.
  aclError (*run)(softnpuBuiltGraph* graph, const softnpuBuffer* inputs, size_t inputCount,
                  const softnpuBuffer* outputs, size_t outputCount, aclrtStream stream);
  // Of a compiled graph: as text, which lives as long as the graph; its memory.
  const char* (*print)(softnpuBuiltGraph* graph);
  void (*memory)(const softnpuBuiltGraph* graph, softnpuGraphMemory* out);
} softnpuGraphBuilder;

ACL_FUNC_VISIBILITY const softnpuGraphBuilder* softnpuGetGraphBuilder(void);

#ifdef __cplusplus
}
#endif
