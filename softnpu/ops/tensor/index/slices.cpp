#include "ops/tensor/index/slices.h"

#include <cstdlib>

namespace softnpu {

Slices::Slices(const View& index, const View& other, const View& indexed, size_t dim, Order order)
    : operands_{index.data, other.data, indexed.data},
      range_{index.dtype == ACL_INT64, false, indexed.sizes[dim]},
      dim_(dim),
      scale_(indexed.strides[dim]) {
  for (size_t i = 0; i < index.rank(); ++i) {
    if (i != dim) {
      walk_.add(index.sizes[i], {index.strides[i], other.strides[i], indexed.strides[i]});
    } else if (order == Order::kByLine && index.sizes[i] > 1) {
      size_ = index.sizes[i];
      along_ = {index.strides[i], other.strides[i], 0};
    } else {
      walk_.add(index.sizes[i], {index.strides[i], other.strides[i], 0});
    }
  }
  walk_.order();
  walk_.join();
  line_first_ = size_ > 1 && (walk_.inner().size <= 1 || std::abs(along_.index) <= std::abs(walk_.inner().strides[0]));
}

}  // namespace softnpu
