#pragma once
// Every aclnn operator as data: its parameters, and its two functions with uniform types. softnpu/opgen generates the
// table.

#include <cstdint>
#include <vector>

#include "aclnn/aclnn_base.h"

namespace fuzz {

// In softnpu/opgen's names.
enum class Kind : uint8_t {
  kTensor,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kTensorList,
  kScalarList,
  kBool,
  kInt8,
  kInt32,
  kInt64,
  kUint64,
  kFloat,
  kDouble,
  kDtype,
  kString,
};

struct Argument {
  const char* name;
  Kind kind;
  bool optional;  // may be null
  bool written;
};

// The value of an argument; its kind selects the member.
union Value {
  void* object;
  int64_t integer;  // also bool and data types
  double real;
  const char* string;
};

struct Caller {
  const char* name;
  std::vector<Argument> arguments;
  aclnnStatus (*plan)(const Value* values, uint64_t* workspace_size, aclOpExecutor** executor);
  aclnnStatus (*launch)(void* workspace, uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream);
};

const std::vector<Caller>& callers();

}  // namespace fuzz
