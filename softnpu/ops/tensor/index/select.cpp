// Reads along one dimension, or elements by their logical order: index_select, embedding, take.

#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/rows.h"

namespace softnpu {
namespace {

struct Operands {
  View self;
  View index;
  View out;

  Status open(const aclTensor& of_self, const aclTensor& of_index, const aclTensor& of_out) {
    SOFTNPU_RETURN_IF_ERROR(view_of(of_self, "self", &self));
    SOFTNPU_RETURN_IF_ERROR(view_of(of_index, "index", &index));
    SOFTNPU_RETURN_IF_ERROR(view_of(of_out, "out", &out));
    SOFTNPU_RETURN_IF_ERROR(require_index(of_index, "index"));
    return same_dtype(of_self, of_out);
  }
};

Status plan_along(const Operands& operands, size_t dim, Describe message, Plan* plan) {
  return plan_reads(table_along(operands.self, dim, operands.index),
                    layout_along(operands.self, dim, operands.index, operands.out), operands.self.dtype,
                    std::move(message), plan);
}

}  // namespace

Status index_select(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan) {
  if (index.dims.size() > 1) {
    return {ACLNN_ERR_PARAM_INVALID, text("index is ", softnpu::describe(index), "; it has one dimension")};
  }
  if (!index.dims.empty() && !self.dims.empty()) return gather_rows(self, dim, index, out, plan);
  Operands operands;
  SOFTNPU_RETURN_IF_ERROR(operands.open(self, index, out));
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &at));
  // A zero-dimensional index, or tensor, counts as one with a single element.
  Dims sizes = self.dims;
  if (sizes.empty()) {
    if (operands.index.count() != 1) {
      return {ACLNN_ERR_PARAM_INVALID, text("index is ", softnpu::describe(index), " where self has no dimensions")};
    }
    SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {}, "out"));
    operands.self = operands.self.insert(0, 1, 0);
    operands.out = operands.out.insert(0, 1, 0);
  } else {
    sizes[at] = 1;
    SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  }
  if (operands.index.rank() == 0) operands.index = operands.index.insert(0, 1, 0);
  return plan_along(operands, at, describe_later({&self, &index, &out}), plan);
}

Status gather_rows(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan) {
  Operands operands;
  SOFTNPU_RETURN_IF_ERROR(operands.open(self, index, out));
  if (self.dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "a tensor without dimensions has no rows to choose from"};
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &at));
  Dims sizes;
  for (size_t i = 0; i < self.dims.size(); ++i) {
    if (i != at) {
      sizes.push_back(self.dims[i]);
      continue;
    }
    for (int64_t size : index.dims) sizes.push_back(size);
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  return plan_along(operands, at, describe_later({&self, &index, &out}), plan);
}

Status gather_rows_of_batch(const aclTensor& self, int64_t dim, const aclTensor& index, int64_t batch_dims,
                            const aclTensor& out, Plan* plan) {
  if (batch_dims != 0) return {ACLNN_ERR_PARAM_INVALID, text("batchDims is ", batch_dims, "; 0 is supported")};
  return gather_rows(self, dim, index, out, plan);
}

Status take(const aclTensor& self, const aclTensor& index, const aclTensor& out, Plan* plan) {
  Operands operands;
  SOFTNPU_RETURN_IF_ERROR(operands.open(self, index, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, index.dims, "out"));
  const View& from = operands.self;
  IndexTable table{{{operands.index, 0, from.count(), 0}}, index.dims, from.sizes, from.strides};
  table.wrap();
  const RowLayout rows(from.data, operands.out.data, index.dims, operands.out.strides, Walk<2>());
  return plan_reads(std::move(table), rows, self.dtype, describe_later({&self, &index, &out}), plan);
}

}  // namespace softnpu
