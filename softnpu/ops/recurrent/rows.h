#pragma once
// Tensors of float32, float16 and bfloat16 as rows of float32, whatever their format.

#include <cstdint>

#include "nnopbase/tensor.h"
#include "ops/convert/rows.h"

namespace softnpu {

// Where the rows of a tensor's last dimension lie. Checked once for all calls of a compiled operator.
struct RowLayout {
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t rows = 0;         // of all dimensions but the last
  int64_t columns = 0;      // the last dimension
  int64_t matrix_rows = 1;  // the dimension before it: FRACTAL_NZ cuts each matrix into blocks of its own
  int64_t block = 0;        // columns of a block of FRACTAL_NZ; 0: rows lie one behind the other
  int64_t bytes = 0;
};

// `tensor` has these rows and columns, in any format that rows can be found in.
Status read_rows(const aclTensor& tensor, const char* role, int64_t rows, int64_t columns, RowLayout* out);

// A layout with an address; a tensor that is left out has none.
class FloatRows {
 public:
  FloatRows() = default;
  // Fails where the tensor does not lie in one allocation of device memory.
  static Status bind(const RowLayout& layout, const aclTensor& tensor, const char* role, FloatRows* out);

  bool is_given() const { return layout_.rows != 0 && data_ != nullptr; }
  int64_t count() const { return layout_.rows; }
  void read(int64_t row, float* to) const;
  void write(int64_t row, const float* from) const;
  // All rows, one behind the other.
  void read_all(float* to, int threads) const;
  void write_all(const float* from, int threads) const;

 private:
  // The block `index` of a row.
  char* block(int64_t row, int64_t index) const;

  RowLayout layout_;
  char* data_ = nullptr;
  LoadRow load_ = nullptr;
  StoreRow store_ = nullptr;
  ptrdiff_t element_ = 0;
};

}  // namespace softnpu
