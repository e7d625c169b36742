#pragma once
// What operators on small images have in common: each value of a channel's image, a plane, is computed from some values
// of another plane, the same ones in every plane. Interpolation, averages and maxima of windows, padding.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace softnpu {

enum class PlaneOp : uint8_t {
  kSum,  // of the values times their weights; 0 of no value
  kMax,  // the last NaN, else the first maximum
};

// A sparse matrix, row by row: rows are values of the result's plane, columns those of the source's.
class PlaneTable {
 public:
  explicit PlaneTable(int64_t columns) : columns_(columns) {}

  // Adds an entry to the row that is being written.
  void add(int64_t column, float weight = 1) {
    index_.push_back(static_cast<int32_t>(column));
    weight_.push_back(weight);
  }
  void end_row() { begin_.push_back(static_cast<int32_t>(index_.size())); }

  int64_t rows() const { return static_cast<int64_t>(begin_.size()) - 1; }
  int64_t columns() const { return columns_; }
  std::span<const int32_t> row(int64_t i) const { return {index_.data() + begin(i), index_.data() + begin(i + 1)}; }
  std::span<const float> weights(int64_t i) const { return {weight_.data() + begin(i), weight_.data() + begin(i + 1)}; }

  // For gradients.
  PlaneTable transposed() const;

 private:
  int32_t begin(int64_t i) const { return begin_[static_cast<size_t>(i)]; }

  int64_t columns_;
  std::vector<int32_t> begin_ = {0};
  std::vector<int32_t> index_;
  std::vector<float> weight_;
};

}  // namespace softnpu
