#include "ops/nn/recurrent/rows.h"

#include <algorithm>

#include "base/text.h"
#include "nnopbase/missing_memory.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/format/layout.h"
#include "softnpu/softnpu.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrainRows = 64;

bool is_taken(aclDataType dtype) { return dtype == ACL_FLOAT || is_half(dtype); }

// The last two sizes in memory are those of a block; the others give the number of blocks.
Status read_blocks(const aclTensor& tensor, const char* role, RowLayout* layout) {
  const Dims& storage_shape = tensor.storage_dims;
  const size_t rank = storage_shape.size();
  const int64_t matrices = layout->matrix_rows == 0 ? 0 : layout->rows / layout->matrix_rows;
  if (rank >= 4 && storage_shape[rank - 2] == kFractalRows && storage_shape[rank - 1] > 0) {
    layout->block = storage_shape[rank - 1];
    const int64_t across = (layout->columns + layout->block - 1) / layout->block;
    const int64_t down = (layout->matrix_rows + kFractalRows - 1) / kFractalRows;
    int64_t count = 1;
    for (int64_t size : storage_shape) count *= size;
    if (storage_shape[rank - 4] == across && storage_shape[rank - 3] == down &&
        count == matrices * across * down * kFractalRows * layout->block) {
      layout->bytes = count * static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
      return Status::ok();
    }
  }
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), " in FRACTAL_NZ with the sizes ",
                                        describe_shape(storage_shape), " in memory")};
}

}  // namespace

Status read_rows(const aclTensor& tensor, const char* role, int64_t rows, int64_t columns, RowLayout* out) {
  RowLayout layout;
  layout.dtype = tensor.dtype;
  layout.columns = tensor.dims.empty() ? 1 : tensor.dims.back();
  layout.rows = layout.columns == 0 ? 0 : element_count(tensor) / layout.columns;
  layout.matrix_rows = tensor.dims.size() < 2 ? 1 : tensor.dims[tensor.dims.size() - 2];
  if (!is_taken(tensor.dtype) || layout.rows != rows || layout.columns != columns) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), ", where ", rows, " rows of ", columns,
                                          " numbers in float32, float16 or bfloat16 are needed")};
  }
  layout.bytes = rows * columns * static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  if (tensor.format == ACL_FORMAT_FRACTAL_NZ) SOFTNPU_RETURN_IF_ERROR(read_blocks(tensor, role, &layout));
  *out = layout;
  return Status::ok();
}

Status FloatRows::bind(const RowLayout& layout, void* address, const char* role, FloatRows* out) {
  out->layout_ = layout;
  out->load_ = load_row(layout.dtype);
  out->store_ = store_row(layout.dtype);
  out->element_ = static_cast<ptrdiff_t>(aclDataTypeSize(layout.dtype));
  if (layout.bytes == 0) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(not_null(address, role));
  void* data = nullptr;
  if (!find_device_memory(address, static_cast<size_t>(layout.bytes), &data)) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " at ", address, " does not lie in one allocation of ", layout.bytes,
                                          " bytes of device memory")};
  }
  out->data_ = static_cast<char*>(data);
  return Status::ok();
}

char* FloatRows::block(int64_t row, int64_t index) const {
  if (layout_.block == 0) return data_ + row * layout_.columns * element_;
  const int64_t down = (layout_.matrix_rows + kFractalRows - 1) / kFractalRows;
  const int64_t across = (layout_.columns + layout_.block - 1) / layout_.block;
  const int64_t matrix = row / layout_.matrix_rows;
  const int64_t within = row - matrix * layout_.matrix_rows;
  return data_ + ((matrix * across + index) * down * kFractalRows + within) * layout_.block * element_;
}

void FloatRows::read(int64_t row, float* to) const {
  const int64_t width = layout_.block == 0 ? layout_.columns : layout_.block;
  for (int64_t at = 0; at < layout_.columns; at += width) {
    const auto count = static_cast<size_t>(std::min(width, layout_.columns - at));
    load_(block(row, at / width), element_, count, to + at);
  }
}

void FloatRows::write(int64_t row, const float* from) const {
  const int64_t width = layout_.block == 0 ? layout_.columns : layout_.block;
  for (int64_t at = 0; at < layout_.columns; at += width) {
    const auto count = static_cast<size_t>(std::min(width, layout_.columns - at));
    store_(from + at, count, block(row, at / width), element_);
  }
}

void FloatRows::read_all(float* to, int threads) const {
  parallel_for(layout_.rows, kGrainRows, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) read(row, to + row * layout_.columns);
  });
}

void FloatRows::write_all(const float* from, int threads) const {
  parallel_for(layout_.rows, kGrainRows, threads, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) write(row, from + row * layout_.columns);
  });
}

}  // namespace softnpu
