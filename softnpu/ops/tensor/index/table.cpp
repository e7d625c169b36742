#include "ops/tensor/index/table.h"

#include <algorithm>

#include "workers/parallel.h"

namespace softnpu {
namespace {

ptrdiff_t unravel(int64_t index, const Dims& sizes, const Dims& strides) {
  ptrdiff_t offset = 0;
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) offset += index % sizes[d] * strides[d];
  return offset;
}

}  // namespace

IndexTerm::IndexTerm(const View& index, size_t of_dim, int64_t size, ptrdiff_t of_stride)
    : data(index.data), range{index.dtype == ACL_INT64, false, size}, dim(of_dim), stride(of_stride) {
  for (size_t i = 0; i < index.rank(); ++i) walk.add(index.sizes[i], {index.strides[i]});
  walk.join();
}

int64_t IndexTable::count() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

void IndexTable::wrap() {
  for (IndexTerm& term : terms) term.range.wraps = true;
}

int64_t IndexTable::read(int64_t first, int64_t count, ptrdiff_t* offsets, FirstBadIndex* bad,
                         void* const* data) const {
  int64_t valid = count;
  ptrdiff_t more[kIndexTile];
  for (size_t t = 0; t < terms.size(); ++t) {
    const IndexTerm& term = terms[t];
    const ptrdiff_t along = flat_sizes.empty() ? term.stride : 1;
    ptrdiff_t* const to = t == 0 ? offsets : more;
    const char* const from = data == nullptr ? term.data : static_cast<const char*>(data[t]);
    int64_t done = 0;
    bool is_bad = false;
    term.walk.for_runs(first, valid, [&](const Walk<1>::Offsets& at, int64_t run) {
      if (is_bad) return;
      int64_t value = 0;
      const int64_t read =
          read_offsets(term.range, from + at[0], term.walk.inner().strides[0], run, along, 0, to + done, &value);
      done += read;
      is_bad = read < run;
      if (is_bad) bad->add(first + done, value, term.dim, term.range);
    });
    valid = done;
    if (t > 0) {
      for (int64_t k = 0; k < valid; ++k) offsets[k] += more[k];
    }
  }
  if (!flat_sizes.empty()) {
    for (int64_t k = 0; k < valid; ++k) offsets[k] = unravel(offsets[k], flat_sizes, flat_strides);
  }
  return valid;
}

Status IndexTable::fill(ptrdiff_t* table, int threads) const {
  FirstBadIndex bad;
  parallel_for(count(), kGrainElements, threads, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += kIndexTile) read(at, std::min(kIndexTile, last - at), table + at, &bad);
  });
  return bad.status();
}

}  // namespace softnpu
