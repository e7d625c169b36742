#pragma once
// The elements of a tensor between strided memory and blocks.

#include "ops/format/layout.h"
#include "ops/iterate/view.h"

namespace softnpu {

class BlockCopy {
 public:
  // `plain` has the sizes that `layout` was made for, and elements; its data is not read here.
  BlockCopy(const BlockLayout& layout, const View& plain);

  // Into blocks, with zeros where the tensor has no elements.
  void pack(const char* plain, char* blocks, int threads) const;
  void unpack(const char* blocks, char* plain, int threads) const;

 private:
  // A dimension, outside of the blocks; strides in bytes.
  struct Loop {
    int64_t size = 1;
    int64_t filled = 1;
    ptrdiff_t in_plain = 0;
    ptrdiff_t in_blocked = 0;
  };

  void add(const Loop& loop);
  void choose_rows();
  Loop take(size_t i);
  // Calls body(offset in plain, offset in blocks, rows, rows to fill, columns) for each part of the rows of one block,
  // by threads.
  template <typename Body>
  void for_pieces(bool fills, int threads, const Body& body) const;

  size_t element_;
  int64_t block_;
  int64_t columns_;            // elements of the dimension that is cut
  ptrdiff_t step_;             // between two of them in plain
  Loop cut_;                   // its blocks
  Loop rows_;                  // walked within a part
  Loop near_;                  // what lies nearer in blocks than the rows, if anything does
  SmallVector<Loop, 8> rest_;  // outermost first
};

}  // namespace softnpu
