#pragma once
// A planner's access to a call of an operator type. The first error is stored, and a default value of the type is
// returned instead: the planner checks status() once.

#include <string>
#include <utility>

#include "nnopbase/arrays.h"
#include "nnopbase/scalar.h"
#include "nnopbase/typed_call.h"
#include "ops/math/elementwise/map.h"

namespace softnpu {

class Operands {
 public:
  explicit Operands(TypedCall& call) : call_(call) {}

  size_t count() const { return call_.inputs.size(); }
  const aclTensor& in(size_t place) const { return call_.inputs[place].tensor; }
  // Null if the input was omitted.
  const aclTensor* maybe(size_t place) const;
  aclTensor& out(size_t place = 0) { return call_.outputs[place].tensor; }
  // Inputs from `first` on.
  aclTensorList list(size_t first) const;

  // The number in an input in host memory.
  aclScalar number(size_t place);
  // The integers in an input in host memory.
  aclIntArray numbers(size_t place);
  // A tensor; or `number`, which is filled, if the input is in host memory.
  MapInput value(size_t place, aclScalar* number);

  bool flag(const char* name, bool fallback);
  int64_t integer(const char* name, int64_t fallback);
  // Numeric attributes are floats, sometimes integers.
  double real(const char* name, double fallback);
  aclScalar scalar(const char* name, double fallback);
  std::string words(const char* name, const char* fallback);
  // Empty if the call does not have it.
  aclIntArray integers(const char* name);

  Status status() { return std::move(status_); }

 private:
  void fail(std::string message);
  template <typename T>
  T attribute(const char* name, T fallback);

  TypedCall& call_;
  Status status_ = Status::ok();
};

// A scalar for planners that need one.
aclScalar real_scalar(double value);
aclScalar integer_scalar(int64_t value);

// Checks how the inputs are given, by one letter each: t a tensor, n a tensor or one number in host memory, h integers
// in host memory. After a letter ? means optional, * any number of them. `takes_blocked_formats`: whether blocked
// formats are also allowed.
Status check_operands(const char* inputs, size_t outputs, bool takes_blocked_formats, const TypedCall& call);

}  // namespace softnpu
