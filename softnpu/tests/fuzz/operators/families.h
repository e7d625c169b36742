#pragma once
// Operators whose sizes follow formulas: rules for their arguments, so that random calls are sometimes valid.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/operators/callers.h"
#include "fuzz/operators/shapes.h"

namespace fuzz {

// A tensor's format and its sizes in memory, which determine the memory of a blocked tensor.
struct StorageShape {
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> sizes;
};

// By argument name; other arguments are drawn as without a draft.
struct Draft {
  std::map<std::string, std::vector<int64_t>> sizes;    // of tensors, and of all tensors of a list
  std::map<std::string, std::vector<int64_t>> numbers;  // of arrays, and integers as one number
  std::map<std::string, double> reals;
  std::map<std::string, const char*> words;
  std::map<std::string, aclDataType> dtypes;
  std::map<std::string, StorageShape> storage_shape;
  std::set<std::string> absent;  // null
  aclDataType dtype = ACL_FLOAT;

  bool empty() const { return sizes.empty(); }
};

// Empty for operators without a family, and occasionally for all.
Draft draft(const Caller& caller, Numbers* numbers);

}  // namespace fuzz
