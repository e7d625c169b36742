#include "ops/index/table.h"

#include <algorithm>

#include "base/text.h"
#include "ops/iterate/walk.h"

namespace softnpu {
namespace {

ptrdiff_t unravel(int64_t index, const Dims& sizes, const Dims& strides) {
  ptrdiff_t offset = 0;
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) offset += index % sizes[d] * strides[d];
  return offset;
}

}  // namespace

int64_t IndexTable::count() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

Status IndexTable::fill(ptrdiff_t* table) const {
  const int64_t total = count();
  std::fill_n(table, total, 0);
  for (const IndexTerm& term : terms) {
    Walk<1> walk;
    for (size_t i = 0; i < sizes.size(); ++i) walk.add(sizes[i], {term.index.strides[i]});
    walk.join();
    const bool is_wide = term.index.dtype == ACL_INT64;
    ptrdiff_t* at = table;
    int64_t bad = 0;
    bool is_bad = false;
    walk.for_each(0, total, [&](const Walk<1>::Offsets& offset) {
      int64_t index = load_index(term.index.data + offset[0], is_wide);
      const int64_t given = index;
      if (wraps && index < 0) index += term.size;
      if (index < 0 || index >= term.size) {
        if (!is_bad) bad = given;
        is_bad = true;
        index = 0;
      }
      *at++ += flat_sizes.empty() ? index * term.stride : is_bad ? 0 : unravel(index, flat_sizes, flat_strides);
    });
    if (is_bad) return out_of_range(bad, term.dim, term.size, wraps);
  }
  return Status::ok();
}

Status out_of_range(int64_t index, size_t dim, int64_t size, bool wraps) {
  return {ACLNN_ERR_PARAM_INVALID, text("index ", index, " is out of range for dimension ", dim, " of size ", size,
                                        wraps ? "; it is from minus the size to the size less one" : "")};
}

}  // namespace softnpu
