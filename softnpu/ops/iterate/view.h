#pragma once
// A tensor as operators that move elements see it: an address, sizes, strides in bytes (negative ones, too).

#include <cstdint>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
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
  // Dimension `dim` from its end to its start.
  View flip(size_t dim) const;
  // Index 0 of dimension `dim`, seen `size` times.
  View repeat(size_t dim, int64_t size) const;
  // With a dimension of `size` and `stride` before `dim`.
  View insert(size_t dim, int64_t size, int64_t stride) const;
  // Without dimension `dim`, at its index 0.
  View erase(size_t dim) const;
  // Seen as `sizes`; the caller has checked that it can be.
  View expand(const Dims& sizes) const;
};

// Refuses types that no operator computes with and memory that is not the device's.
Status view_of(const aclTensor& tensor, const char* role, View* out);

// `dim` within [-rank, rank) as an index; a tensor without dimensions counts as one with one.
Status wrap_dim(int64_t dim, size_t rank, size_t* out);

Status same_dtype(const aclTensor& a, const aclTensor& b);
Status require_sizes(const aclTensor& tensor, const Dims& sizes, const char* role);
Status require_index(const aclTensor& index, const char* role);  // int32 or int64

// Whether `sizes` broadcast to `to`.
bool broadcasts_to(const Dims& sizes, const Dims& to);

// What moving `elements` of them costs: the threads for it, and Plan::work.
struct Effort {
  int threads = 1;
  double work = 0;
};
inline Effort effort_of(double elements) {
  constexpr double kWorkPerElement = 16;  // one is read, one written
  const double work = kWorkPerElement * elements;
  return {threads_for(work), work};
}

// The least number of elements that is worth a thread's turn.
constexpr int64_t kGrainElements = 1 << 14;

// A plan that has nothing to do.
Status plan_nothing(Plan* plan);

}  // namespace softnpu
