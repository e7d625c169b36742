#pragma once
// Every aclnn operator as data: what it takes, and its two functions behind one type each. softnpu/opgen writes the
// table.

#include <cstdint>
#include <vector>

#include "aclnn/aclnn_base.h"

namespace fuzz {

// As softnpu/opgen names them.
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

// One argument's value; its kind says which member.
union Value {
  void* object;
  int64_t integer;  // bool and data types, too
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
