#pragma once
// Kernels that read rows of an indexed tensor by their offsets.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Row k has `count` elements: from indexed + offsets[k] in steps of `from`, to other + k * row in steps of `to`.
// Strides are in bytes.
struct RowsToRead {
  const char* indexed;
  ptrdiff_t from;
  const ptrdiff_t* offsets;
  int64_t rows;
  char* other;
  ptrdiff_t row;
  ptrdiff_t to;
  int64_t count;
};
using ReadRows = void (*)(const RowsToRead& rows);

// For elements of `size` bytes.
ReadRows read_rows_kernel(size_t size);

}  // namespace softnpu
