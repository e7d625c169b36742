#pragma once
// Formats with blocks, exactly: the sizes of a tensor in memory, and where each element lies. One dimension is cut into
// blocks of C0 elements, which are innermost in memory; in the fractal formats the dimension before them is filled up
// to a multiple of 16. What is filled up is zero.

#include <cstdint>

#include "nnopbase/tensor.h"

namespace softnpu {

constexpr int64_t kFractalRows = 16;

struct BlockFormat {
  aclFormat format;
  const char* name;
  // A letter for each size of a tensor in this format, and the same in the order of memory, outermost first, without
  // the blocks; c is the dimension that is cut. Null: matrices [M, K], behind any number of other sizes; K is cut and
  // outermost, M follows.
  const char* sizes;
  const char* order;
  int64_t block;           // C0; 0: the tensor's elements or its sizes in memory say it
  bool is_fractal = true;  // sizes in memory: [.., rows / 16, 16, C0], where formats with letters join all before rows
};

// Null for formats without blocks.
const BlockFormat* find_block_format(aclFormat format);

// C0 of FRACTAL_NZ for elements of so many bytes: what the plug-in allocates.
constexpr int64_t block_of_elements(size_t bytes) { return bytes == 1 ? 32 : 16; }
// C0 where a program says which data type the blocks are made for: 32 bytes of it.
constexpr int64_t block_of_type(size_t bytes) { return 32 / static_cast<int64_t>(bytes); }

// A dimension in memory; the stride is in elements.
struct BlockAxis {
  size_t dim;
  int64_t size;    // of the tensor; of the dimension that is cut: blocks
  int64_t filled;  // in memory: at least `size`
  int64_t stride;
};

struct BlockLayout {
  Dims storage_shape;              // the sizes in memory, as storage_dims have them
  SmallVector<BlockAxis, 8> axes;  // outermost first, without the blocks' insides
  size_t cut_dim = 0;
  int64_t cut_size = 0;  // elements
  int64_t block = 0;
  int64_t bytes = 0;
};

// For a tensor of these sizes, in the order of format.sizes; matrices have two at least. `block` counts where the
// format does not say it.
Status lay_out(const BlockFormat& format, const Dims& sizes, int64_t block, size_t element, BlockLayout* out);

}  // namespace softnpu
