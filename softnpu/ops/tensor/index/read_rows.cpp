#include "ops/tensor/index/read_rows.h"

#include <algorithm>
#include <cstring>

#include "base/copy_bytes.h"
#include "ops/core/element.h"

namespace softnpu {
namespace {

// Shorter rows that are not contiguous are read column by column.
constexpr int64_t kShortRow = 8;
// Rows of unpredictable places are prefetched this far ahead, and so much of each.
constexpr int64_t kAheadRows = 8;
constexpr ptrdiff_t kAheadBytes = 256;
constexpr ptrdiff_t kLine = 64;

template <typename T>
void read_elements(char* to, ptrdiff_t stride, const char* indexed, const ptrdiff_t* offsets, int64_t count) {
  if (stride == static_cast<ptrdiff_t>(sizeof(T))) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; ++k) {
      std::memcpy(to + k * static_cast<ptrdiff_t>(sizeof(T)), indexed + offsets[k], sizeof(T));
    }
  } else {
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; ++k) std::memcpy(to + k * stride, indexed + offsets[k], sizeof(T));
  }
}

template <size_t kBytes>
void copy_rows_of(const RowsToRead rows) {
  for (int64_t k = 0; k < rows.rows; ++k) {
    std::memcpy(rows.other + k * rows.row, rows.indexed + rows.offsets[k], kBytes);
  }
}

// Rows of contiguous bytes.
void copy_rows(const RowsToRead rows, size_t bytes) {
  switch (bytes) {
    case 4: return copy_rows_of<4>(rows);
    case 8: return copy_rows_of<8>(rows);
    case 16: return copy_rows_of<16>(rows);
    case 32: return copy_rows_of<32>(rows);
    case 64: return copy_rows_of<64>(rows);
    default: break;
  }
  const ptrdiff_t ahead = std::min(static_cast<ptrdiff_t>(bytes), kAheadBytes);
  for (int64_t k = 0; k < rows.rows; ++k) {
    if (k + kAheadRows < rows.rows) {
      const char* next = rows.indexed + rows.offsets[k + kAheadRows];
      for (ptrdiff_t i = 0; i < ahead; i += kLine) __builtin_prefetch(next + i);
    }
    copy_bytes(rows.other + k * rows.row, rows.indexed + rows.offsets[k], bytes);
  }
}

template <typename T>
void read_rows(const RowsToRead& given) {
  // A copy: the compiler must assume that stores through char* change other objects.
  const RowsToRead rows = given;
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  if (rows.count == 1) return read_elements<T>(rows.other, rows.row, rows.indexed, rows.offsets, rows.rows);
  if (rows.from == kSize && rows.to == kSize) return copy_rows(rows, static_cast<size_t>(rows.count * kSize));
  if (rows.count < kShortRow || rows.row == kSize) {
    for (int64_t i = 0; i < rows.count; ++i) {
      read_elements<T>(rows.other + i * rows.to, rows.row, rows.indexed + i * rows.from, rows.offsets, rows.rows);
    }
    return;
  }
  for (int64_t k = 0; k < rows.rows; ++k) {
    const char* from = rows.indexed + rows.offsets[k];
    char* to = rows.other + k * rows.row;
    for (int64_t i = 0; i < rows.count; ++i) std::memcpy(to + i * rows.to, from + i * rows.from, sizeof(T));
  }
}

}  // namespace

ReadRows read_rows_kernel(size_t size) {
  return with_element(size, []<typename T>() -> ReadRows { return &read_rows<T>; });
}

}  // namespace softnpu
