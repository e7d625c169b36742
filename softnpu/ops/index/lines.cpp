#include "ops/index/lines.h"

namespace softnpu {

Lines::Lines(const View& index, const View& other, const View& indexed, size_t dim, const View* counts)
    : index_(index.data),
      other_(other.data),
      indexed_(indexed.data),
      is_wide_(index.dtype == ACL_INT64),
      dim_(dim),
      size_(index.sizes[dim]),
      limit_(indexed.sizes[dim]) {
  for (size_t i = 0; i < index.rank(); ++i) {
    const Walk<4>::Offsets strides{index.strides[i], other.strides[i], indexed.strides[i],
                                   counts == nullptr ? 0 : counts->strides[i]};
    if (i == dim) {
      along_ = strides;
    } else {
      walk_.add(index.sizes[i], strides);
    }
  }
  walk_.order();
  walk_.join();
  line_first_ = walk_.inner().size <= 1 || along_[0] <= walk_.inner().strides[0];
}

}  // namespace softnpu
