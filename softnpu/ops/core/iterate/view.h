#pragma once
// A tensor for operators that move elements: address, sizes, strides in bytes (which may be negative).

#include <cstdint>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/core/iterate/walk.h"
#include "ops/core/nothing.h"
#include "workers/parallel.h"

namespace softnpu {

struct View {
  char* data = nullptr;  // of the first element
  Dims sizes;
  Dims strides;
  aclDataType dtype = ACL_DT_UNDEFINED;

  int64_t element() const { return static_cast<int64_t>(aclDataTypeSize(dtype)); }
  int64_t count() const;
  size_t rank() const { return sizes.size(); }

  // [first, first + size) of dimension `dim`.
  View narrow(size_t dim, int64_t first, int64_t size) const;
  // Reverses dimension `dim`.
  View flip(size_t dim) const;
  // Repeats index 0 of dimension `dim` `size` times.
  View repeat(size_t dim, int64_t size) const;
  // Inserts a dimension of `size` and `stride` before `dim`.
  View insert(size_t dim, int64_t size, int64_t stride) const;
  // Removes dimension `dim`, at its index 0.
  View erase(size_t dim) const;
  // Broadcasts to `sizes`; the caller has checked that this is possible.
  View expand(const Dims& sizes) const;
};

// The view's elements in logical order.
Walk<1> walk_of(const View& view);

// Fails for types that no operator supports and for memory that is not the device's.
Status view_of(const aclTensor& tensor, const char* role, View* out);

// Converts `dim` in [-rank, rank) to an index; a zero-dimensional tensor counts as one-dimensional.
Status wrap_dim(int64_t dim, size_t rank, size_t* out);

Status same_dtype(const aclTensor& a, const aclTensor& b);
Status require_sizes(const aclTensor& tensor, const Dims& sizes, const char* role);
Status require_index(const aclTensor& index, const char* role);  // int32 or int64

// Whether `sizes` can be broadcast to `to`.
bool broadcasts_to(const Dims& sizes, const Dims& to);

// The effort to move `elements`: number of threads, and Plan::work.
struct Effort {
  int threads = 1;
  double work = 0;
};
inline Effort effort_of(double elements) {
  constexpr double kWorkPerElement = 16;  // one read, one write
  const double work = kWorkPerElement * elements;
  return {threads_for(work), work};
}

// The smallest piece for a thread.
constexpr int64_t kGrainElements = 1 << 14;

}  // namespace softnpu
