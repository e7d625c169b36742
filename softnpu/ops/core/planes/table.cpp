#include "ops/core/planes/table.h"

namespace softnpu {

PlaneTable PlaneTable::transposed() const {
  PlaneTable created(rows());
  const auto columns = static_cast<size_t>(columns_);
  created.begin_.assign(columns + 1, 0);
  for (const int32_t column : index_) ++created.begin_[static_cast<size_t>(column) + 1];
  for (size_t i = 0; i < columns; ++i) created.begin_[i + 1] += created.begin_[i];
  created.index_.resize(index_.size());
  created.weight_.resize(index_.size());
  std::vector<int32_t> next(created.begin_.begin(), created.begin_.end() - 1);
  for (int64_t i = 0; i < rows(); ++i) {
    for (int32_t k = begin(i); k < begin(i + 1); ++k) {
      const auto at = static_cast<size_t>(next[static_cast<size_t>(index_[static_cast<size_t>(k)])]++);
      created.index_[at] = static_cast<int32_t>(i);
      created.weight_[at] = weight_[static_cast<size_t>(k)];
    }
  }
  return created;
}

}  // namespace softnpu
