#include "ops/matmul/strided_copy.h"

namespace softnpu {
namespace {

// Below this the start of a parallel region costs more than it saves.
constexpr int64_t kSerialElements = 1 << 14;

void copy_row(float* to, int64_t to_stride, const float* from, int64_t from_stride, int64_t count, float scale) {
  if (scale == 0) {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = 0;
  } else if (to_stride == 1 && from_stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = scale * from[i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = scale * from[i * from_stride];
  }
}

}  // namespace

void scaled_copy(const Matrices& to, const Matrices& from, float scale) {
  const int64_t lines = to.batch * to.rows;
#pragma omp parallel for if (element_count(to) >= kSerialElements)
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t batch = line / to.rows;
    const int64_t row = line % to.rows;
    const float* source = scale == 0 ? nullptr : from.data + batch * from.batch_stride + row * from.row_stride;
    copy_row(to.data + batch * to.batch_stride + row * to.row_stride, to.column_stride, source, from.column_stride,
             to.columns, scale);
  }
}

}  // namespace softnpu
