#pragma once
// What a planned type reads of a call. The first thing that is not as it should be is kept, and a value of the type
// stands in for it: whoever plans asks for status() once.

#include <string>
#include <utility>

#include "nnopbase/arrays.h"
#include "nnopbase/scalar.h"
#include "nnopbase/typed_call.h"
#include "ops/elementwise/map.h"

namespace softnpu {

class Operands {
 public:
  explicit Operands(TypedCall& call) : call_(call) {}

  size_t count() const { return call_.inputs.size(); }
  const aclTensor& in(size_t place) const { return call_.inputs[place].tensor; }
  // Null where the input was left out.
  const aclTensor* maybe(size_t place) const;
  aclTensor& out(size_t place = 0) { return call_.outputs[place].tensor; }
  // Inputs from `first` on.
  aclTensorList list(size_t first) const;

  // The number in host memory that an input is.
  aclScalar number(size_t place);
  // The whole numbers in host memory that an input is.
  aclIntArray numbers(size_t place);
  // A tensor; or `number`, which is filled, where the input lies in host memory.
  MapInput value(size_t place, aclScalar* number);

  bool flag(const char* name, bool fallback);
  int64_t integer(const char* name, int64_t fallback);
  // Attributes that are numbers are written as float, and sometimes as a whole number.
  double real(const char* name, double fallback);
  aclScalar scalar(const char* name, double fallback);
  std::string words(const char* name, const char* fallback);
  // Empty where the call does not have it.
  aclIntArray integers(const char* name);

  Status status() { return std::move(status_); }

 private:
  void fail(std::string message);
  template <typename T>
  T attribute(const char* name, T fallback);

  TypedCall& call_;
  Status status_ = Status::ok();
};

// A number for planners that take one.
aclScalar real_scalar(double value);
aclScalar integer_scalar(int64_t value);

// How the inputs of a type have to be given, a letter for each: t a tensor, n a tensor or one number in host memory, h
// whole numbers in host memory. After a letter ? says that it may be left out, * that any number of them may follow.
// `takes_blocked_formats`: whether formats with blocks are taken, too.
Status check_operands(const char* inputs, size_t outputs, bool takes_blocked_formats, const TypedCall& call);

}  // namespace softnpu
