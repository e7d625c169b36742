#pragma once
// Tensors of float32, float16 and bfloat16 as rows of float32, in all supported formats.

#include <cstdint>

#include "nnopbase/tensor.h"
#include "ops/core/convert/rows.h"

namespace softnpu {

// The layout of the rows of a tensor's last dimension. Checked once for all calls of a compiled operator.
struct RowLayout {
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t rows = 0;         // product of all dimensions except the last
  int64_t columns = 0;      // the last dimension
  int64_t matrix_rows = 1;  // the second to last dimension: in FRACTAL_NZ each matrix has its own blocks
  int64_t block = 0;        // columns of a FRACTAL_NZ block; 0: rows are contiguous
  int64_t bytes = 0;
};

// Checks that `tensor` has these rows and columns, in any format with known rows.
Status read_rows(const aclTensor& tensor, const char* role, int64_t rows, int64_t columns, RowLayout* out);

// A layout with an address; an omitted tensor has none.
class FloatRows {
 public:
  FloatRows() = default;
  // Fails unless the layout's bytes at `address` are in one allocation of device memory.
  static Status bind(const RowLayout& layout, void* address, const char* role, FloatRows* out);

  bool is_given() const { return layout_.rows != 0 && data_ != nullptr; }
  int64_t count() const { return layout_.rows; }
  void read(int64_t row, float* to) const;
  void write(int64_t row, const float* from) const;
  // All rows, contiguously.
  void read_all(float* to, int threads) const;
  void write_all(const float* from, int threads) const;

 private:
  // The address of block `index` of a row.
  char* block(int64_t row, int64_t index) const;

  RowLayout layout_;
  char* data_ = nullptr;
  LoadRow load_ = nullptr;
  StoreRow store_ = nullptr;
  ptrdiff_t element_ = 0;
};

}  // namespace softnpu
