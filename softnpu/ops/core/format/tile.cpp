#include "ops/core/format/tile.h"

#include <algorithm>
#include <cstring>

#include "ops/core/element.h"
#include "ops/core/format/transpose_tile.h"

namespace softnpu {
namespace {

// Bytes per row of plain memory that are copied to a patch at once: a cache line, since other lines may evict it before
// its next part is read.
constexpr int64_t kLine = 64;

template <typename T>
constexpr int64_t kSize = sizeof(T);

template <typename T, int64_t kBlock>
constexpr bool kTurns = sizeof(T) <= 8 && kBlock % kTransposedSide<T> == 0;

// Packs kRows rows that are contiguous in plain; a patch's columns are one cache line apart.
template <typename T, int64_t kBlock, int64_t kRows>
void pack_lines(const char* plain, char* blocks, const TileStrides& s, int64_t columns) {
  alignas(kLine) T patch[kBlock][kLine / sizeof(T)];
  for (int64_t c = 0; c < columns; ++c) std::memcpy(patch[c], plain + c * s.column, kRows * kSize<T>);
  for (int64_t c = columns; c < kBlock; ++c) std::fill_n(patch[c], kRows, T{});
  if constexpr (kTurns<T, kBlock>) {
    for (int64_t r = 0; r < kRows; r += kTransposedSide<T>) {
      for (int64_t c = 0; c < kBlock; c += kTransposedSide<T>) {
        transpose_tile<T>(reinterpret_cast<const char*>(patch[c] + r), kLine,
                          blocks + r * s.row_of_blocks + c * kSize<T>, s.row_of_blocks);
      }
    }
  } else {
    for (int64_t r = 0; r < kRows; ++r) {
      T line[kBlock];
      for (int64_t c = 0; c < kBlock; ++c) line[c] = patch[c][r];
      std::memcpy(blocks + r * s.row_of_blocks, line, sizeof line);
    }
  }
}

template <typename T, int64_t kBlock, int64_t kRows>
void unpack_lines(const char* blocks, char* plain, const TileStrides& s, int64_t columns) {
  alignas(kLine) T patch[kBlock][kLine / sizeof(T)];
  if constexpr (kTurns<T, kBlock>) {
    for (int64_t r = 0; r < kRows; r += kTransposedSide<T>) {
      for (int64_t c = 0; c < kBlock; c += kTransposedSide<T>) {
        transpose_tile<T>(blocks + r * s.row_of_blocks + c * kSize<T>, s.row_of_blocks,
                          reinterpret_cast<char*>(patch[c] + r), kLine);
      }
    }
  } else {
    for (int64_t r = 0; r < kRows; ++r) {
      T line[kBlock];
      std::memcpy(line, blocks + r * s.row_of_blocks, sizeof line);
      for (int64_t c = 0; c < kBlock; ++c) patch[c][r] = line[c];
    }
  }
  for (int64_t c = 0; c < columns; ++c) std::memcpy(plain + c * s.column, patch[c], kRows * kSize<T>);
}

// Calls lines.template operator()<kRows>(row) for as many rows as possible, in steps of whole lines or squares. Returns
// the number of rows.
template <typename T, typename Slices>
int64_t by_lines(int64_t rows, const Slices& lines) {
  constexpr int64_t kMany = kLine / kSize<T>;
  constexpr int64_t kFew = std::max<int64_t>(kTransposedSide<T>, 2);
  int64_t done = 0;
  for (; done + kMany <= rows; done += kMany) lines.template operator()<kMany>(done);
  for (; done + kFew <= rows; done += kFew) lines.template operator()<kFew>(done);
  return done;
}

template <typename T, int64_t kBlock>
void pack(const char* plain, char* blocks, const TileStrides& s, int64_t rows, int64_t filled, int64_t columns) {
  constexpr size_t kBytes = sizeof(T) * kBlock;
  int64_t done = 0;
  if (s.column == kSize<T> && columns == kBlock) {
    for (; done < rows; ++done) std::memcpy(blocks + done * s.row_of_blocks, plain + done * s.row, kBytes);
  } else if (s.row == kSize<T>) {
    done = by_lines<T>(rows, [&]<int64_t kRows>(int64_t row) {
      pack_lines<T, kBlock, kRows>(plain + row * kSize<T>, blocks + row * s.row_of_blocks, s, columns);
    });
  }
  for (; done < rows; ++done) {
    T line[kBlock] = {};
    for (int64_t c = 0; c < columns; ++c) std::memcpy(&line[c], plain + done * s.row + c * s.column, sizeof(T));
    std::memcpy(blocks + done * s.row_of_blocks, line, kBytes);
  }
  for (; done < filled; ++done) std::memset(blocks + done * s.row_of_blocks, 0, kBytes);
}

template <typename T, int64_t kBlock>
void unpack(const char* blocks, char* plain, const TileStrides& s, int64_t rows, int64_t columns) {
  constexpr size_t kBytes = sizeof(T) * kBlock;
  int64_t done = 0;
  if (s.column == kSize<T> && columns == kBlock) {
    for (; done < rows; ++done) std::memcpy(plain + done * s.row, blocks + done * s.row_of_blocks, kBytes);
  } else if (s.row == kSize<T>) {
    done = by_lines<T>(rows, [&]<int64_t kRows>(int64_t row) {
      unpack_lines<T, kBlock, kRows>(blocks + row * s.row_of_blocks, plain + row * kSize<T>, s, columns);
    });
  }
  for (; done < rows; ++done) {
    const char* line = blocks + done * s.row_of_blocks;
    for (int64_t c = 0; c < columns; ++c) {
      std::memcpy(plain + done * s.row + c * s.column, line + c * kSize<T>, sizeof(T));
    }
  }
}

template <typename Body>
auto with_block(int64_t block, Body&& body) {
  switch (block) {
    case 2: return body.template operator()<2>();
    case 4: return body.template operator()<4>();
    case 8: return body.template operator()<8>();
    case 16: return body.template operator()<16>();
    default: return body.template operator()<32>();
  }
}

}  // namespace

PackTile pack_tile(size_t element, int64_t block) {
  return with_element(element, [block]<typename T>() -> PackTile {
    return with_block(block, []<int64_t kBlock>() -> PackTile { return &pack<T, kBlock>; });
  });
}

UnpackTile unpack_tile(size_t element, int64_t block) {
  return with_element(element, [block]<typename T>() -> UnpackTile {
    return with_block(block, []<int64_t kBlock>() -> UnpackTile { return &unpack<T, kBlock>; });
  });
}

}  // namespace softnpu
