// index and index_put: several index tensors, broadcast to one shape, for several dimensions.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/rows.h"

namespace softnpu {
namespace {

// The meaning of a list of indices for a tensor.
struct Advanced {
  IndexTable table;
  std::vector<size_t> rest;  // dimensions without an index
  size_t at = 0;             // position of the table's dimensions in the result
  Dims sizes;                // of the result
  bool is_empty = false;     // no dimension is indexed
};

// CANN's callers pass an empty vector for a whole dimension. An empty index tensor looks identical: it counts as an
// index if no other tensor is one.
bool is_left_out(const aclTensor* index, bool others) {
  return index == nullptr || (others && index->dims.size() == 1 && index->dims[0] == 0);
}

Status read_indices(const View& self, const aclTensorList& indices, Advanced* out) {
  if (indices.size() > self.rank()) {
    return {ACLNN_ERR_PARAM_INVALID, text(indices.size(), " indices for a tensor of ", self.rank(), " dimensions")};
  }
  const bool others = std::any_of(indices.begin(), indices.end(),
                                  [](const aclTensor* index) { return index != nullptr && element_count(*index) > 0; });
  Dims& sizes = out->table.sizes;
  std::vector<size_t> indexed;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (is_left_out(indices[d], others)) continue;
    const aclTensor& index = *indices[d];
    // An empty index has no values: any type is allowed.
    if (element_count(index) > 0) {
      SOFTNPU_RETURN_IF_ERROR(require_index(index, text("index ", d).c_str()));
    }
    while (sizes.size() < index.dims.size()) {
      Dims longer{1};
      for (int64_t size : sizes) longer.push_back(size);
      sizes = longer;
    }
    for (size_t i = 0; i < index.dims.size(); ++i) {
      int64_t& size = sizes[sizes.size() - index.dims.size() + i];
      if (index.dims[i] == 1 || index.dims[i] == size) continue;
      if (size != 1) {
        return {ACLNN_ERR_PARAM_INVALID,
                text("index ", d, " of the shape ", describe_shape(index.dims),
                     " cannot be broadcast with the others, which make ", describe_shape(sizes))};
      }
      size = index.dims[i];
    }
    indexed.push_back(d);
  }
  if (indexed.empty()) return {ACLNN_ERR_PARAM_INVALID, "no dimension is indexed"};
  for (size_t d : indexed) {
    View view;
    SOFTNPU_RETURN_IF_ERROR(view_of(*indices[d], "an index", &view));
    out->table.terms.push_back({view.expand(sizes), d, self.sizes[d], self.strides[d]});
  }
  out->table.wrap();
  // At the first indexed dimension if the indexed ones are adjacent, otherwise in front.
  const bool neighbours = indexed.back() - indexed.front() + 1 == indexed.size();
  out->at = neighbours ? indexed.front() : 0;
  for (size_t d = 0; d < self.rank(); ++d) {
    if (std::find(indexed.begin(), indexed.end(), d) == indexed.end()) out->rest.push_back(d);
  }
  for (size_t k = 0; k <= out->rest.size(); ++k) {
    if (k == out->at) {
      for (int64_t size : sizes) out->sizes.push_back(size);
    }
    if (k < out->rest.size()) out->sizes.push_back(self.sizes[out->rest[k]]);
  }
  return Status::ok();
}

// `other` has the result's sizes.
RowLayout rows_of(const View& self, const Advanced& advanced, const View& other) {
  const size_t dims = advanced.table.sizes.size();
  Dims entries;
  for (size_t k = 0; k < dims; ++k) entries.push_back(other.strides[advanced.at + k]);
  Walk<2> rest;
  for (size_t k = 0; k < advanced.rest.size(); ++k) {
    const size_t d = advanced.rest[k];
    rest.add(self.sizes[d], {self.strides[d], other.strides[k < advanced.at ? k : k + dims]});
  }
  return {self.data, other.data, advanced.table.sizes, entries, rest};
}

Describe describe_later(const aclTensor& self, const aclTensorList& indices, const aclTensor& other) {
  std::vector<const aclTensor*> all{&self};
  all.insert(all.end(), indices.begin(), indices.end());
  all.push_back(&other);
  return softnpu::describe_later(all);
}

}  // namespace

Status index(const aclTensor& self, const aclTensorList& indices, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  Advanced advanced;
  SOFTNPU_RETURN_IF_ERROR(read_indices(from, indices, &advanced));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, advanced.sizes, "out"));
  RowLayout rows = rows_of(from, advanced, to);
  return plan_reads(std::move(advanced.table), std::move(rows), self.dtype, describe_later(self, indices, out), plan);
}

Status index_put(const aclTensor& self, const aclTensorList& indices, const aclTensor& values, bool accumulate,
                 Plan* plan) {
  View to;
  View from;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "selfRef", &to));
  SOFTNPU_RETURN_IF_ERROR(view_of(values, "values", &from));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, values));
  Advanced advanced;
  SOFTNPU_RETURN_IF_ERROR(read_indices(to, indices, &advanced));
  // Leading dimensions of size 1 are ignored.
  while (from.rank() > advanced.sizes.size() && from.sizes[0] == 1) from = from.erase(0);
  if (!broadcasts_to(from.sizes, advanced.sizes)) {
    return {ACLNN_ERR_PARAM_INVALID, text("values of the shape ", describe_shape(values.dims),
                                          " cannot be broadcast to the indexed ", describe_shape(advanced.sizes))};
  }
  const RowOp op = accumulate ? RowOp::kAdd : RowOp::kWrite;
  RowWrites rows(op, self.dtype, rows_of(to, advanced, from.expand(advanced.sizes)));
  return plan_writes(std::move(advanced.table), std::move(rows), {}, describe_later(self, indices, values), plan);
}

}  // namespace softnpu
