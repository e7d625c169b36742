#include "ops/nn/quant/weight_dots.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ops/nn/quant/weight_block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr auto kColumns = static_cast<int64_t>(kWeightColumns);

// Signed 4-bit elements from `element` on, one a byte.
void unpack(const char* data, int64_t element, std::span<int8_t> to) {
  const auto low = [](char byte) { return static_cast<int8_t>(static_cast<int8_t>(byte << 4) >> 4); };
  const auto high = [](char byte) { return static_cast<int8_t>(static_cast<int8_t>(byte) >> 4); };
  const char* from = data + element / 2;
  size_t i = 0;
  if (element % 2 != 0 && !to.empty()) to[i++] = high(*from++);
  for (; i + 2 <= to.size(); i += 2, ++from) {
    to[i] = low(*from);
    to[i + 1] = high(*from);
  }
  if (i < to.size()) to[i] = low(*from);
}

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
    const MultiplyWeights kernel = multiply_weights();
    for (size_t i = 0; i < static_cast<size_t>(sizes_.rows); i += kWeightRows) {
      const size_t rows = std::min(kWeightRows, static_cast<size_t>(sizes_.rows) - i);
      kernel({x_ + i * depth, rows, depth, starts_, static_cast<size_t>(count), static_cast<size_t>(weights_.group),
              groups_, scales_.data(), offsets_.empty() ? nullptr : offsets_.data()},
             sums_.data() + i * kWeightColumns);
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
    unpack(weights_.data, begin, to);
    starts_[at] = to.data();
  }

  const ContiguousWeights& weights_;
  int64_t first_;
  const float* x_;
  const GemmSizes& sizes_;
  size_t groups_;
  std::vector<float> scales_, offsets_;
  std::vector<int8_t> unpacked_;
  std::vector<float> sums_;
  const int8_t* starts_[kWeightColumns] = {};
};

}  // namespace

void WeightParameters::read(int64_t column, int64_t count, size_t groups, float* to) const {
  const char* from = data + column * column_step;
  const auto all = static_cast<size_t>(count) * groups;
  if (group_step != 0 && column_step == group_step * static_cast<ptrdiff_t>(groups)) {
    return reader.read(from, group_step, all, to);
  }
  for (size_t at = 0; at < all; at += groups, from += column_step) {
    if (group_step != 0) {
      reader.read(from, group_step, groups, to + at);
    } else {
      reader.read(from, 0, 1, to + at);
      std::fill_n(to + at, groups, to[at]);
    }
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
