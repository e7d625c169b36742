#pragma once
// A planner's access to a call of an operator type. The first error is stored, and a default value of the type is
// returned instead: the planner checks status() once.

#include <string>
#include <utility>

#include "nnopbase/arrays.h"
#include "nnopbase/registry_call.h"
#include "nnopbase/scalar.h"
#include "ops/math/elementwise/map.h"

namespace softnpu {

struct OperatorRow;

class Operands {
 public:
  static constexpr int64_t kUnknown = -1;  // a size that the run determines

  Operands(const OperatorRow& row, RegistryCall& call) : row_(row), call_(call) {}

  // The type of an input.
  aclDataType dtype(size_t location) const { return call_.inputs[location].tensor.dtype; }
  size_t count() const { return call_.inputs.size(); }
  const aclTensor& in(size_t location) const { return call_.inputs[location].tensor; }
  // Null if the input was omitted.
  const aclTensor* maybe(size_t location) const;
  aclTensor& out(size_t location = 0) { return call_.outputs[location].tensor; }
  // Inputs from `first` on.
  aclTensorList list(size_t first) const;

  // The number in an input in host memory.
  aclScalar number(size_t location);
  // The integers in an input in host memory.
  aclIntArray numbers(size_t location);
  // A tensor; or `number`, which is filled, if the input is in host memory.
  MapInput value(size_t location, aclScalar* number);

  // Attributes of the operator's row, which has their defaults.
  bool flag(const char* name);
  int64_t integer(const char* name);
  // Numeric attributes are floats, sometimes integers.
  double real(const char* name);
  aclScalar scalar(const char* name);
  std::string words(const char* name);
  aclIntArray integers(const char* name);
  // Whether the call has the attribute.
  bool has(const char* name) const;

  // The first error, which stays.
  Status peek() const { return {status_.code(), status_.message()}; }
  Status status() { return std::move(status_); }

 private:
  void fail(std::string message);
  template <typename T>
  T attribute(const char* name, T fallback);
  // The row's attribute, whose default is `number`.
  double fallback(const char* name, const char** words = nullptr);

  const OperatorRow& row_;
  RegistryCall& call_;
  Status status_ = Status::ok();
};

// A scalar for planners that need one.
aclScalar real_scalar(double value);
aclScalar integer_scalar(int64_t value);

}  // namespace softnpu
