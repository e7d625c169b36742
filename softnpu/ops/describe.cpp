#include "ops/describe.h"

#include "base/text.h"
#include "ops/dtype.h"

namespace softnpu {

std::string describe_shape(std::span<const int64_t> dims) {
  std::string said = "[";
  for (size_t i = 0; i < dims.size(); ++i) said += text(i == 0 ? "" : ", ", dims[i]);
  return said + "]";
}

std::string describe(const aclTensor& tensor) { return name_of(tensor.dtype) + describe_shape(tensor.dims); }

std::string describe(std::span<const aclTensor* const> tensors) {
  std::string said = "(";
  for (size_t i = 0; i < tensors.size(); ++i) {
    said += text(i == 0 ? "" : ", ", tensors[i] == nullptr ? "null" : describe(*tensors[i]));
  }
  return said + ")";
}

}  // namespace softnpu
