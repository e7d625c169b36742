#pragma once
// Operands of normalizations: checked tensors, read and written in the order of their indices.

#include <optional>

#include "base/text.h"
#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/iterate/view.h"

namespace softnpu {

inline Status check_operand(const aclTensor& tensor, const char* role, int64_t count) {
  if (!is_known(tensor.dtype) || !is_floating(tensor.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " is ", describe(tensor), "; a normalization is of floating-point numbers")};
  }
  if (element_count(tensor) == count) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), " where ", count, " elements are needed")};
}

// Opens a reader or writer of `tensor` with `count` elements; `out` stays empty for null.
template <typename Accessor>
Status open(const aclTensor* tensor, const char* role, int64_t count, std::optional<Accessor>* out, int64_t last = -1) {
  if (tensor == nullptr) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(check_operand(*tensor, role, count));
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*tensor, last, role, &flat));
  out->emplace(std::move(flat));
  return Status::ok();
}

// One value of a reader; `otherwise` without a reader.
template <typename T>
T value_of(const std::optional<FlatReader<T>>& reader, int64_t i, T otherwise) {
  T buffer;
  return reader ? *reader->read(i, 1, &buffer) : otherwise;
}

template <typename T>
void put_value(const std::optional<FlatWriter<T>>& writer, int64_t i, double value) {
  const T converted = static_cast<T>(value);
  if (writer) writer->put(i, 1, &converted);
}

// Sets the gradients to null that `mask` does not select.
inline Status masks(const aclBoolArray& mask, const aclTensor** dx, const aclTensor** dweight,
                    const aclTensor** dbias) {
  if (mask.size() != 3)
    return {ACLNN_ERR_PARAM_INVALID, text("outputMask has ", mask.size(), " elements; 3 are needed")};
  const aclTensor** const outputs[] = {dx, dweight, dbias};
  for (size_t i = 0; i < 3; ++i) {
    if (!mask[i]) {
      *outputs[i] = nullptr;
    } else if (*outputs[i] == nullptr) {
      return {ACLNN_ERR_PARAM_NULLPTR, "a gradient that outputMask asks for is null"};
    }
  }
  return Status::ok();
}

}  // namespace softnpu
