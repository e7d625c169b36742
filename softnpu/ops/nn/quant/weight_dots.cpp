#include "ops/nn/quant/weight_dots.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ops/nn/quant/weight_block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr auto kColumns = static_cast<int64_t>(kWeightColumns);

// What one thread needs for kColumns columns.
class Columns {
 public:
  Columns(const ContiguousWeights& weights, int64_t first, const float* x, const GemmSizes& sizes)
      : weights_(weights),
        first_(first),
        x_(x),
        sizes_(sizes),
        groups_(static_cast<size_t>((sizes.depth + weights.group - 1) / weights.group)),
        scales_(kWeightColumns * groups_),
        offsets_(weights.offset.data == nullptr ? 0 : scales_.size()),
        unpacked_(weights.is_int4 ? kWeightColumns * static_cast<size_t>(sizes.depth) : 0),
        sums_(static_cast<size_t>(sizes.rows) * kWeightColumns) {}

  // The sums of columns [j, j + count), `kWeightColumns` a row.
  float* multiply(int64_t j, int64_t count) {
    weights_.scale.read(j, count, groups_, scales_.data());
    if (!offsets_.empty()) weights_.offset.read(j, count, groups_, offsets_.data());
    for (int64_t c = 0; c < count; ++c) load(j + c, static_cast<size_t>(c));
    const auto depth = static_cast<size_t>(sizes_.depth);
    const auto all_rows = static_cast<size_t>(sizes_.rows);
    WeightBlock block{x_,
                      std::min(kWeightRows, all_rows),
                      depth,
                      starts_,
                      static_cast<size_t>(count),
                      static_cast<size_t>(weights_.group),
                      groups_,
                      scales_.data(),
                      offsets_.empty() ? nullptr : offsets_.data()};
    const bool is_spread = all_rows > kWeightRows;
    const MultiplyWeights kernel = multiply_weights();
    const MultiplyValues value_kernel = multiply_values();
    if (is_spread) {
      values_.resize(kWeightColumns * depth);
      spread_weights()(block, values_.data());
    }
    for (size_t i = 0; i < all_rows; i += kWeightRows) {
      block.x = x_ + i * depth;
      block.rows = std::min(kWeightRows, all_rows - i);
      float* const sums = sums_.data() + i * kWeightColumns;
      if (is_spread) {
        value_kernel(block, values_.data(), sums);
      } else {
        kernel(block, sums);
      }
    }
    return sums_.data();
  }

 private:
  void load(int64_t column, size_t at) {
    const int64_t begin = first_ + column * weights_.column_stride;
    if (!weights_.is_int4) {
      starts_[at] = reinterpret_cast<const int8_t*>(weights_.data + begin);
      return;
    }
    const auto depth = static_cast<size_t>(sizes_.depth);
    const std::span<int8_t> to = std::span(unpacked_).subspan(at * depth, depth);
    unpack_int4(weights_.data, begin, to);
    starts_[at] = to.data();
  }

  const ContiguousWeights& weights_;
  int64_t first_;
  const float* x_;
  const GemmSizes& sizes_;
  size_t groups_;
  std::vector<float> scales_, offsets_;
  std::vector<int8_t> unpacked_;
  std::vector<float> values_;
  std::vector<float> sums_;
  const int8_t* starts_[kWeightColumns] = {};
};

}  // namespace

void unpack_int4(const char* data, int64_t element, std::span<int8_t> to) {
  const auto* from = reinterpret_cast<const uint8_t*>(data + element / 2);
  size_t i = 0;
  if (element % 2 != 0 && !to.empty()) to[i++] = static_cast<int8_t>(((*from++ >> 4) ^ 8) - 8);
  const size_t whole = (to.size() - i) / 2;
  unpack_halves()(from, whole, to.data() + i);
  if ((to.size() - i) % 2 != 0) to.back() = static_cast<int8_t>(((from[whole] & 15) ^ 8) - 8);
}

void WeightParameters::read(int64_t column, int64_t count, size_t groups, float* to) const {
  const char* from = data + column * column_step;
  const auto columns = static_cast<size_t>(count);
  if (group_step == 0 || column_step <= group_step) {
    reader.read(from, column_step, columns, to);
    for (size_t g = 1; g < groups; ++g) {
      from += group_step;
      float* const row = to + g * kWeightColumns;
      if (group_step == 0) {
        std::copy_n(to, columns, row);
      } else {
        reader.read(from, column_step, columns, row);
      }
    }
    return;
  }
  std::vector<float> line(groups);
  for (size_t c = 0; c < columns; ++c, from += column_step) {
    reader.read(from, group_step, groups, line.data());
    for (size_t g = 0; g < groups; ++g) to[g * kWeightColumns + c] = line[g];
  }
}

void weight_dots(const ContiguousWeights& weights, int64_t first, const float* x, const GemmSizes& sizes, int64_t batch,
                 int64_t first_row, const GemmSink& sink, int threads) {
  parallel_for(sizes.columns, kColumns, threads, [&](int64_t begin, int64_t end) {
    Columns columns(weights, first, x, sizes);
    for (int64_t j = begin; j < end; j += kColumns) {
      const int64_t count = std::min(kColumns, end - j);
      float* const sums = columns.multiply(j, count);
      for (int64_t i = 0; i < sizes.rows; ++i) sink.store(batch, first_row + i, j, count, sums + i * kColumns);
    }
  });
}

}  // namespace softnpu
