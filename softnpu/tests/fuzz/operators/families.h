#pragma once
// Operators whose sizes follow formulas: what their arguments have to be, so that random ones are taken now and then.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/operators/callers.h"
#include "fuzz/operators/shapes.h"

namespace fuzz {

// A tensor's format and its sizes in memory, which say how much of it there is where the format has blocks.
struct Held {
  aclFormat format = ACL_FORMAT_ND;
  std::vector<int64_t> sizes;
};

// By the names of arguments; what is not named is drawn as it would be without a draft.
struct Draft {
  std::map<std::string, std::vector<int64_t>> sizes;    // of tensors, and of all tensors of a list
  std::map<std::string, std::vector<int64_t>> numbers;  // of arrays, and integers as one number
  std::map<std::string, double> reals;
  std::map<std::string, const char*> words;
  std::map<std::string, aclDataType> dtypes;
  std::map<std::string, Held> held;
  std::set<std::string> absent;  // null
  aclDataType dtype = ACL_FLOAT;

  bool empty() const { return sizes.empty(); }
};

// Empty for operators of no family, and once in a while for all.
Draft draft(const Caller& caller, Numbers* numbers);

}  // namespace fuzz
