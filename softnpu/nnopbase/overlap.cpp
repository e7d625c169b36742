#include "nnopbase/overlap.h"

#include <algorithm>
#include <numeric>

#include "base/small_vector.h"
#include "base/text.h"
#include "nnopbase/format.h"

namespace softnpu {
namespace {

struct Dim {
  int64_t stride;
  int64_t size;
};

// Whether steps along both dimensions can reach the same element: the least such steps lead to the strides' least
// common multiple.
bool intersect(const Dim& a, const Dim& b) {
  const int64_t common = std::gcd(a.stride, b.stride);
  return b.stride / common < a.size && a.stride / common < b.size;
}

}  // namespace

bool overlaps_itself(const aclTensor& tensor) {
  if (is_blocked_format(tensor.format)) return false;
  SmallVector<Dim, 8> dims;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] == 0) return false;
    if (tensor.dims[i] > 1) dims.push_back({tensor.strides[i], tensor.dims[i]});
  }
  if (std::ranges::count(dims, 0, &Dim::stride) > 0) return true;
  std::ranges::sort(dims, {}, &Dim::stride);
  if (!dims.empty() && dims[0].stride < 0) return false;
  int64_t reach = 0;  // of the preceding dimensions
  bool are_nested = true;
  for (const Dim& dim : dims) {
    are_nested = are_nested && dim.stride > reach;
    reach += (dim.size - 1) * dim.stride;
  }
  if (are_nested) return false;
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (intersect(dims[i], dims[j])) return true;
    }
  }
  return false;
}

Status overlapping_argument(size_t position) {
  return {
      ACLNN_ERR_PARAM_INVALID,
      text("argument ", position, " is written, but some of its elements share a place in memory: give the operator ",
           "a result without strides of 0 and without overlapping ones")};
}

}  // namespace softnpu
