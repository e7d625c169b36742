#include "ops/math/reduce/space.h"

#include <algorithm>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {
namespace {

// Sorted by the input's memory order, and merged if all strides allow.
std::vector<ReduceDim> ordered(std::vector<ReduceDim> dims) {
  std::erase_if(dims, [](const ReduceDim& dim) { return dim.size == 1; });
  std::stable_sort(dims.begin(), dims.end(), [](const ReduceDim& a, const ReduceDim& b) { return a.in > b.in; });
  std::vector<ReduceDim> joined;
  for (const ReduceDim& dim : dims) {
    const auto joins = [&](const ReduceDim& outer) {
      if (outer.in != dim.in * dim.size) return false;
      for (size_t k = 0; k < kMaxResults; ++k) {
        if (outer.out[k] != dim.out[k] * dim.size) return false;
      }
      return true;
    };
    if (!joined.empty() && joins(joined.back())) {
      const int64_t size = joined.back().size * dim.size;
      joined.back() = dim;
      joined.back().size = size;
    } else {
      joined.push_back(dim);
    }
  }
  if (joined.empty()) joined.emplace_back();
  return joined;
}

int64_t count_of(const std::vector<ReduceDim>& dims) {
  int64_t count = 1;
  for (const ReduceDim& dim : dims) count *= dim.size;
  return count;
}

Status check_shape(const aclTensor& self, const std::vector<bool>& marked, bool keepdim, const aclTensor& result) {
  std::vector<int64_t> wanted;
  for (size_t i = 0; i < self.dims.size(); ++i) {
    if (!marked[i]) {
      wanted.push_back(self.dims[i]);
    } else if (keepdim) {
      wanted.push_back(1);
    }
  }
  if (std::ranges::equal(result.dims, wanted)) return Status::ok();
  // One value is taken as a vector, too.
  if (wanted.empty() && result.dims.size() == 1 && result.dims[0] == 1) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("the result has the shape ", describe_shape(result.dims), " where ",
                                        describe_shape(wanted), " is needed for ", describe(self))};
}

}  // namespace

Status marked_dims(const aclTensor& self, std::span<const int64_t> dims, std::vector<bool>* out) {
  const auto n = static_cast<int64_t>(self.dims.size());
  const int64_t range = std::max<int64_t>(n, 1);
  out->assign(static_cast<size_t>(range), dims.empty());
  for (int64_t dim : dims) {
    if (dim < -range || dim >= range) {
      return {ACLNN_ERR_PARAM_INVALID, text("dimension ", dim, " is out of range for ", describe(self), ": it is in [",
                                            -range, ", ", range - 1, "]")};
    }
    const auto at = static_cast<size_t>(dim < 0 ? dim + range : dim);
    if ((*out)[at]) {
      return {ACLNN_ERR_PARAM_INVALID, text("dimension ", at, " is named twice in ", describe_shape(dims))};
    }
    (*out)[at] = true;
  }
  return Status::ok();
}

Status ReduceSpace::make(const aclTensor& self, const std::vector<bool>& marked, bool keepdim, const Results& results,
                         ReduceSpace* out) {
  void* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(self, "the input", &memory));
  out->in_ = static_cast<const char*>(memory);
  std::vector<ReduceDim> kept;
  std::vector<ReduceDim> reduced;
  const auto in_size = static_cast<ptrdiff_t>(aclDataTypeSize(self.dtype));
  for (size_t i = 0; i < self.dims.size(); ++i) {
    ReduceDim dim;
    dim.size = self.dims[i];
    dim.in = self.strides[i] * in_size;
    (marked[i] ? reduced : kept).push_back(dim);
  }
  for (size_t k = 0; k < kMaxResults; ++k) {
    if (results[k] == nullptr) continue;
    const aclTensor& result = *results[k];
    SOFTNPU_RETURN_IF_ERROR(check_shape(self, marked, keepdim, result));
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(result, "the result", &memory));
    out->out_[k] = static_cast<char*>(memory);
    const auto size = static_cast<ptrdiff_t>(aclDataTypeSize(result.dtype));
    size_t at = 0;
    size_t next = 0;
    for (size_t i = 0; i < self.dims.size(); ++i) {
      if (!marked[i]) kept[next++].out[k] = result.strides[at] * size;
      if (!marked[i] || keepdim) ++at;
    }
  }
  out->kept_ = ordered(std::move(kept));
  out->reduced_ = ordered(std::move(reduced));
  out->kept_count_ = count_of(out->kept_);
  out->reduced_count_ = count_of(out->reduced_);
  return Status::ok();
}

bool ReduceSpace::is_by_columns() const {
  if (inner_kept().size == 1) return false;
  return inner_reduced().size == 1 || inner_kept().in < inner_reduced().in;
}

}  // namespace softnpu
