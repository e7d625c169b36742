#pragma once
// Packing and unpacking of some rows of one block: [rows, C0] in blocks, with `columns` of them in use, and the same
// rows and columns in strided memory.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// In bytes. Columns are contiguous in blocks.
struct TileStrides {
  ptrdiff_t row_of_blocks;
  ptrdiff_t row;
  ptrdiff_t column;
};

// Columns from `columns` on, and rows from `rows` to `filled`, become zero.
using PackTile = void (*)(const char* plain, char* blocks, const TileStrides& strides, int64_t rows, int64_t filled,
                          int64_t columns);
using UnpackTile = void (*)(const char* blocks, char* plain, const TileStrides& strides, int64_t rows, int64_t columns);

// For elements of 1, 2, 4, 8 or 16 bytes, and blocks of 2, 4, 8, 16 or 32 elements.
PackTile pack_tile(size_t element, int64_t block);
UnpackTile unpack_tile(size_t element, int64_t block);

}  // namespace softnpu
