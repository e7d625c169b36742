#include "ops/nn/quant/int8_dots.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/nn/quant/int8_block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

template <size_t kMax>
std::array<const int8_t*, kMax> starts(const Int8Lines& lines, int64_t first, size_t count) {
  std::array<const int8_t*, kMax> found = {};
  for (size_t i = 0; i < count; ++i) found[i] = lines.data + (first + static_cast<int64_t>(i)) * lines.stride;
  return found;
}

}  // namespace

void int8_dots(const Int8Lines& rows, const Int8Lines& columns, const GemmSizes& sizes, int64_t batch,
               const GemmSink& sink, int threads) {
  constexpr auto kColumns = static_cast<int64_t>(kInt8Columns);
  constexpr auto kRows = static_cast<int64_t>(kInt8Rows);
  const MultiplyInt8 kernel = multiply_int8();
  parallel_for(sizes.columns, kColumns, threads, [&](int64_t begin, int64_t end) {
    std::array<int32_t, kInt8Rows * kInt8Columns> sums;
    for (int64_t j = begin; j < end; j += kColumns) {
      const auto width = static_cast<size_t>(std::min(kColumns, end - j));
      const auto right = starts<kInt8Columns>(columns, j, width);
      for (int64_t i = 0; i < sizes.rows; i += kRows) {
        const auto height = static_cast<size_t>(std::min(kRows, sizes.rows - i));
        const auto left = starts<kInt8Rows>(rows, i, height);
        kernel({left.data(), height, right.data(), width, static_cast<size_t>(sizes.depth)}, sums.data());
        for (size_t m = 0; m < height; ++m) {
          sink.store(batch, i + static_cast<int64_t>(m), j, static_cast<int64_t>(width),
                     sums.data() + m * kInt8Columns);
        }
      }
    }
  });
}

}  // namespace softnpu
