#pragma once
// Walks an index tensor, a tensor of its shape, and a tensor that it indexes along one dimension: gather and scatter.

#include <algorithm>

#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/index/offsets.h"
#include "workers/parallel.h"

namespace softnpu {

// The addresses of the first elements.
struct LineOperands {
  const char* index;
  char* other;
  char* indexed;
};

// The addresses for a run of index elements: element k is at other + k * stride and at indexed + offsets[k].
struct IndexedRun {
  char* other;
  ptrdiff_t stride;
  char* indexed;
  const ptrdiff_t* offsets;
  int64_t count;
};

class Slices {
 public:
  enum class Order : uint8_t {
    kAny,
    kByLine,  // the indices of one line are visited in order, on one thread
  };

  // `other` is at least as large as the index; `indexed` too, except in `dim`.
  Slices(const View& index, const View& other, const View& indexed, size_t dim, Order order);

  LineOperands operands() const { return operands_; }

  // Calls body(IndexedRun) until every index is visited. Fails at the first index out of range, without a call for it.
  template <typename Body>
  Status for_runs(int threads, const Body& body) const {
    return for_runs(operands_, threads, body);
  }
  // The same for other tensors of these sizes and strides.
  template <typename Body>
  Status for_runs(const LineOperands& operands, int threads, const Body& body) const;

 private:
  struct Strides {
    ptrdiff_t index;
    ptrdiff_t other;
    ptrdiff_t indexed;
  };

  template <typename Body>
  bool visit(const LineOperands& operands, Walk<3>::Offsets at, const Strides& strides, int64_t count, const Body& body,
             FirstBadIndex* bad) const;

  Walk<3> walk_;  // index, other, indexed: without dim, if the lines are in order
  LineOperands operands_;
  IndexRange range_;
  bool line_first_ = false;
  size_t dim_;
  int64_t size_ = 1;     // of a line in order
  Strides along_{};      // of a line in order
  ptrdiff_t scale_ = 0;  // of the indexed tensor in dim
};

// False after an index out of range.
template <typename Body>
bool Slices::visit(const LineOperands& operands, Walk<3>::Offsets at, const Strides& strides, int64_t count,
                   const Body& body, FirstBadIndex* bad) const {
  ptrdiff_t offsets[kIndexTile];
  for (int64_t k = 0; k < count; k += kIndexTile) {
    const int64_t here = std::min(kIndexTile, count - k);
    int64_t value = 0;
    const char* const index = operands.index + at[0] + k * strides.index;
    const int64_t read = read_offsets(range_, index, strides.index, here, scale_, strides.indexed, offsets, &value);
    body(IndexedRun{operands.other + at[1] + k * strides.other, strides.other,
                    operands.indexed + at[2] + k * strides.indexed, offsets, read});
    if (read == here) continue;
    bad->add(index + read * strides.index - operands.index, value, dim_, range_);
    return false;
  }
  return true;
}

template <typename Body>
Status Slices::for_runs(const LineOperands& operands, int threads, const Body& body) const {
  FirstBadIndex bad;
  const int64_t grain = std::max<int64_t>(1, kGrainElements / 4 / std::max<int64_t>(size_, 1));
  parallel_for(walk_.count(), grain, threads, [&](int64_t first, int64_t last) {
    if (line_first_) {
      bool is_good = true;
      walk_.for_each(first, last - first, [&](const Walk<3>::Offsets& at) {
        is_good = is_good && visit(operands, at, {along_.index, along_.other, 0}, size_, body, &bad);
      });
      return;
    }
    const Walk<3>::Offsets& inner = walk_.inner().strides;
    const Strides strides{inner[0], inner[1], inner[2]};
    bool is_good = true;
    for (int64_t i = 0; i < size_ && is_good; ++i) {
      walk_.for_runs(first, last - first, [&](const Walk<3>::Offsets& at, int64_t run) {
        is_good = is_good && visit(operands, {at[0] + i * along_.index, at[1] + i * along_.other, at[2]}, strides, run,
                                   body, &bad);
      });
    }
  });
  return bad.status();
}

}  // namespace softnpu
