#pragma once
// Blocked formats: the sizes of a tensor in memory, and the place of each element. One dimension is cut into blocks of
// C0 elements, which are innermost in memory; in fractal formats the dimension before them is padded to a multiple of
// 16. Padding is zero.

#include <cstdint>

#include "nnopbase/tensor.h"

namespace softnpu {

constexpr int64_t kFractalRows = 16;

struct BlockFormat {
  aclFormat format;
  const char* name;
  // A letter per size of a tensor in this format, and the same letters in memory order, outermost first, without the
  // blocks; c is the blocked dimension. Null: matrices [M, K] with any number of leading dimensions; K is blocked and
  // outermost, followed by M.
  const char* sizes;
  const char* order;
  int64_t block;           // C0; 0: given by the tensor's data type or sizes in memory
  bool is_fractal = true;  // storage: [.., rows / 16, 16, C0]; formats with letters merge all before rows
};

// Null for plain formats.
const BlockFormat* find_block_format(aclFormat format);

// C0 of FRACTAL_NZ for elements of `bytes` bytes, as the plug-in allocates it.
constexpr int64_t block_of_elements(size_t bytes) { return bytes == 1 ? 32 : 16; }
// C0 if a program states the data type of the blocks: 32 bytes of it.
constexpr int64_t block_of_type(size_t bytes) { return 32 / static_cast<int64_t>(bytes); }

// A dimension in memory; the stride is in elements.
struct BlockAxis {
  size_t dim;
  int64_t size;    // of the tensor; of the blocked dimension: blocks
  int64_t filled;  // padded size in memory: at least `size`
  int64_t stride;
};

struct BlockLayout {
  Dims storage_shape;              // the same as storage_dims
  SmallVector<BlockAxis, 8> axes;  // outermost first, without the block itself
  size_t cut_dim = 0;
  int64_t cut_size = 0;  // elements
  int64_t block = 0;
  int64_t bytes = 0;
};

// For a tensor of `sizes`, in the order of format.sizes; matrices have at least two. `block` is used if the format does
// not define it.
Status lay_out(const BlockFormat& format, const Dims& sizes, int64_t block, size_t element, BlockLayout* out);

}  // namespace softnpu
