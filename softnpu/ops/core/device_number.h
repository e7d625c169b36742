#pragma once
// An attribute in device memory: its value is known when the operator runs.

#include "nnopbase/tensor.h"
#include "ops/core/convert/element_rows.h"

namespace softnpu {

class DeviceNumber {
 public:
  DeviceNumber() = default;
  // `tensor` has one real element; `role` names it in the error text.
  static Status make(const aclTensor& tensor, const char* role, DeviceNumber* out);

  // Only during run(). as_int64() keeps the bits of integers.
  double as_double() const;
  int64_t as_int64() const;

 private:
  const void* data_ = nullptr;
  ElementReader real_;
  ElementReader integer_;
};

}  // namespace softnpu
