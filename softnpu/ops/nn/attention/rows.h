#pragma once
// The rows of a tensor along its last dimension, broadcast to the shape of others.

#include <span>

#include "nnopbase/tensor.h"
#include "ops/core/convert/element_rows.h"

namespace softnpu {

class TensorRows {
 public:
  // `tensor` has rows of dims.back() elements, and is broadcast to `dims` in the other dimensions. Values are computed
  // as `as`.
  static Status make(const aclTensor& tensor, const char* role, std::span<const int64_t> dims, aclDataType as,
                     TensorRows* out);

  // `row` is a row index in `dims`.
  void read(int64_t row, void* to) const { reader_.read(data_ + offset(row), stride_, length_, to); }
  void write(const void* from, int64_t row) const { writer_.write(from, length_, data_ + offset(row), stride_); }
  // The index of that row in the tensor itself.
  int64_t own(int64_t row) const { return walk(row, own_strides_); }
  int64_t own_count() const { return own_count_; }

 private:
  int64_t offset(int64_t row) const { return walk(row, strides_); }
  int64_t walk(int64_t row, const Dims& strides) const {
    int64_t location = 0;
    for (size_t i = outer_.size(); i-- > 0 && row > 0;) {
      const int64_t rest = row / outer_[i];
      location += (row - rest * outer_[i]) * strides[i];
      row = rest;
    }
    return location;
  }

  char* data_ = nullptr;
  ElementReader reader_;
  ElementWriter writer_;
  Dims outer_, strides_, own_strides_;  // in bytes; in the tensor's own rows
  ptrdiff_t stride_ = 0;
  size_t length_ = 0;
  int64_t own_count_ = 1;
};

}  // namespace softnpu
