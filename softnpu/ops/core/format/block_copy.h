#pragma once
// Copies a tensor's elements between strided memory and blocks.

#include "ops/core/format/layout.h"
#include "ops/core/iterate/view.h"

namespace softnpu {

class BlockCopy {
 public:
  // `plain` has the sizes for which `layout` was made, and at least one element; its data pointer is not used.
  BlockCopy(const BlockLayout& layout, const View& plain);

  // Copies into blocks; padding becomes zero.
  void pack(const char* plain, char* blocks, int threads) const;
  void unpack(const char* blocks, char* plain, int threads) const;

 private:
  // A dimension outside of the blocks; strides in bytes.
  struct Loop {
    int64_t size = 1;
    int64_t filled = 1;
    ptrdiff_t in_plain = 0;
    ptrdiff_t in_blocked = 0;
  };

  void add(const Loop& loop);
  void choose_rows();
  Loop take(size_t i);
  // Calls body(offset in plain, offset in blocks, rows, rows with padding, columns) for each part of the rows of a
  // block, on threads.
  template <typename Body>
  void for_pieces(bool fills, int threads, const Body& body) const;

  size_t element_;
  int64_t block_;
  int64_t columns_;            // elements of the blocked dimension
  ptrdiff_t step_;             // distance between two of them in plain
  Loop cut_;                   // the blocks of that dimension
  Loop rows_;                  // the dimension walked within a part
  Loop near_;                  // a dimension with a smaller stride in blocks than the rows, if any
  SmallVector<Loop, 8> rest_;  // outermost first
};

}  // namespace softnpu
