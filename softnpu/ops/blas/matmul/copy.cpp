#include "ops/blas/matmul/copy.h"

#include <algorithm>

#include "ops/core/convert/element_rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kAtATime = 512;
// Elements of the smallest piece for a thread.
constexpr int64_t kGrain = 1 << 14;

class Row {
 public:
  Row(aclDataType from, aclDataType to)
      : reader_(from, to),
        writer_(to, to),
        from_size_(static_cast<ptrdiff_t>(aclDataTypeSize(from))),
        to_size_(static_cast<ptrdiff_t>(aclDataTypeSize(to))) {}

  void copy(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count) const {
    if (writer_.is_direct() && to_stride == 1) {
      return reader_.read(from, from_stride * from_size_, static_cast<size_t>(count), to);
    }
    alignas(64) char tile[kAtATime * 16];
    for (int64_t i = 0; i < count; i += kAtATime) {
      const auto here = static_cast<size_t>(std::min(kAtATime, count - i));
      reader_.read(from + i * from_stride * from_size_, from_stride * from_size_, here, tile);
      writer_.write(tile, here, to + i * to_stride * to_size_, to_stride * to_size_);
    }
  }

 private:
  ElementReader reader_;
  ElementWriter writer_;
  ptrdiff_t from_size_;
  ptrdiff_t to_size_;
};

}  // namespace

void copy_matrices(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int threads) {
  int64_t count = 1;
  for (int64_t size : batch) count *= size;
  const Row row(from.dtype, to.dtype);
  // Along the contiguous dimension of the source.
  const bool along_rows = from.rows > 1 && from.row_stride < from.k_stride;
  const int64_t k_tiles = (from.k + from.k_tile - 1) / from.k_tile;
  const int64_t steps = along_rows ? from.k : from.rows;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, along_rows ? from.rows : from.k));
  parallel_for(count * steps, grain, threads, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      const int64_t index = at / steps;
      const int64_t step = at - index * steps;
      const int64_t source = batch_offset(batch, from.batch_strides, index);
      const int64_t target = batch_offset(batch, to.batch_strides, index);
      if (along_rows) {
        const int64_t k_tile = step / from.k_tile;
        row.copy(from.at(source + k_tile * from.k_tile_stride + (step - k_tile * from.k_tile) * from.k_stride),
                 from.row_stride, to.at(target + step * to.k_stride), to.row_stride, from.rows);
      } else {
        for (int64_t k_tile = 0; k_tile < k_tiles; ++k_tile) {
          const int64_t k = k_tile * from.k_tile;
          row.copy(from.at(source + step * from.row_stride + k_tile * from.k_tile_stride), from.k_stride,
                   to.at(target + step * to.row_stride + k * to.k_stride), to.k_stride,
                   std::min(from.k_tile, from.k - k));
        }
      }
    }
  });
}

}  // namespace softnpu
