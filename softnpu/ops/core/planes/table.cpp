#include "ops/core/planes/table.h"

namespace softnpu {

PlaneTable PlaneTable::transposed() const {
  PlaneTable made(rows());
  const auto columns = static_cast<size_t>(columns_);
  made.begin_.assign(columns + 1, 0);
  for (const int32_t column : index_) ++made.begin_[static_cast<size_t>(column) + 1];
  for (size_t i = 0; i < columns; ++i) made.begin_[i + 1] += made.begin_[i];
  made.index_.resize(index_.size());
  made.weight_.resize(index_.size());
  std::vector<int32_t> next(made.begin_.begin(), made.begin_.end() - 1);
  for (int64_t i = 0; i < rows(); ++i) {
    for (int32_t k = begin(i); k < begin(i + 1); ++k) {
      const auto at = static_cast<size_t>(next[static_cast<size_t>(index_[static_cast<size_t>(k)])]++);
      made.index_[at] = static_cast<int32_t>(i);
      made.weight_[at] = weight_[static_cast<size_t>(k)];
    }
  }
  return made;
}

}  // namespace softnpu
