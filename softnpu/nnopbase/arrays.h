#pragma once
// Arrays of numbers and lists of objects, used as attributes and arguments of operators.

#include <cstdint>

#include "aclnn/aclnn_base.h"
#include "base/small_vector.h"

namespace softnpu {

template <typename T>
struct Array {
  SmallVector<T, 8> values;

  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  const T& operator[](size_t i) const { return values[i]; }
  const T* begin() const { return values.begin(); }
  const T* end() const { return values.end(); }
};

}  // namespace softnpu

struct aclIntArray : softnpu::Array<int64_t> {};
struct aclFloatArray : softnpu::Array<float> {};
struct aclBoolArray : softnpu::Array<bool> {};
// Lists own their elements. An element may be null: an omitted optional tensor, for example in the indices of
// aclnnIndex. The names (base/pool.h) distinguish a separately destroyed element from a new object at its address.
struct aclTensorList : softnpu::Array<const aclTensor*> {
  softnpu::SmallVector<uint64_t, 8> names;
};
struct aclScalarList : softnpu::Array<const aclScalar*> {
  softnpu::SmallVector<uint64_t, 8> names;
};
