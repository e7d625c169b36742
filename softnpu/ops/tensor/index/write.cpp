// Writes along one dimension, or to elements by their logical order.

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/convert/number.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/tensor/index/index_sums.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/rows.h"

namespace softnpu {
namespace {

// A vector of indices for `dim` of the written tensor, which may be zero-dimensional.
struct Target {
  View out;
  View index;
  size_t dim = 0;

  Status open(const aclTensor& of_out, int64_t of_dim, const aclTensor& of_index) {
    SOFTNPU_RETURN_IF_ERROR(view_of(of_out, "out", &out));
    SOFTNPU_RETURN_IF_ERROR(view_of(of_index, "index", &index));
    SOFTNPU_RETURN_IF_ERROR(require_index(of_index, "index"));
    if (index.rank() > 1) {
      return {ACLNN_ERR_PARAM_INVALID, text("index is ", softnpu::describe(of_index), "; it has one dimension")};
    }
    SOFTNPU_RETURN_IF_ERROR(wrap_dim(of_dim, out.rank(), &dim));
    if (out.rank() == 0) out = out.insert(0, 1, 0);
    if (index.rank() == 0) index = index.insert(0, 1, 0);
    return Status::ok();
  }

  // Opens `source`, which has the written tensor's shape, except in `dim`: one element per index.
  Status open_source(const aclTensor& source, View* view) const {
    SOFTNPU_RETURN_IF_ERROR(view_of(source, "source", view));
    if (view->rank() == 0) *view = view->insert(0, 1, 0);
    if (view->rank() == 1 && out.rank() > 1 && view->count() == 1 && index.count() == 1 &&
        out.count() == out.sizes[dim]) {
      *view = view->expand(Dims(out.rank(), 1));
    }
    Dims sizes = out.sizes;
    sizes[dim] = index.count();
    if (view->sizes == sizes) return Status::ok();
    return {ACLNN_ERR_PARAM_INVALID,
            text("source has the shape ", describe_shape(source.dims), " where ", describe_shape(sizes), " is needed")};
  }

  IndexTable table() const { return table_along(out, dim, index); }
  RowWrites writes(RowOp op, const View& values) const {
    return {op, out.dtype, layout_along(out, dim, index, values)};
  }
};

}  // namespace

Status index_add(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& source,
                 const aclScalar& alpha, const aclTensor& out, Plan* plan) {
  Target target;
  View values;
  Plan start;
  SOFTNPU_RETURN_IF_ERROR(target.open(out, dim, index));
  SOFTNPU_RETURN_IF_ERROR(target.open_source(source, &values));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(out, source));
  SOFTNPU_RETURN_IF_ERROR(plan_start(self, out, &start));
  const IndexSums sums{target.out, target.dim, target.index, values, alpha.as_double()};
  if (is_half(out.dtype) || (is_floating(out.dtype) && sums.is_by_line())) {
    return plan_index_sums(sums, std::move(start), describe_later({&self, &index, &source}), plan);
  }
  const bool plain = alpha.is_integral() && alpha.as_int64() == 1;
  RowWrites rows = target.writes(plain ? RowOp::kAdd : RowOp::kAddScaled, values);
  rows.set_alpha(alpha, out.dtype);
  return plan_writes(target.table(), std::move(rows), std::move(start), describe_later({&self, &index, &source}), plan);
}

Status index_copy(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& source,
                  const aclTensor& out, Plan* plan) {
  Target target;
  View values;
  Plan start;
  SOFTNPU_RETURN_IF_ERROR(target.open(out, dim, index));
  SOFTNPU_RETURN_IF_ERROR(target.open_source(source, &values));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(out, source));
  SOFTNPU_RETURN_IF_ERROR(plan_start(self, out, &start));
  return plan_writes(target.table(), target.writes(RowOp::kWrite, values), std::move(start),
                     describe_later({&self, &index, &source}), plan);
}

namespace {

// Writes the number at every index; `keep` owns the index's memory if no tensor does.
Status plan_fill(const Target& target, const aclScalar& value, aclDataType dtype, std::shared_ptr<const void> keep,
                 Plan start, Describe message, Plan* plan) {
  struct Constant {
    alignas(16) char bytes[16];
    std::shared_ptr<const void> keep;
  };
  auto constant = std::make_shared<Constant>();
  constant->keep = std::move(keep);
  store_scalar(value, dtype, constant->bytes);
  View values = target.out;
  values.data = constant->bytes;
  for (int64_t& stride : values.strides) stride = 0;
  IndexTable table = target.table();
  table.wrap();
  return plan_writes(std::move(table), target.writes(RowOp::kWrite, values), std::move(start), std::move(message), plan,
                     constant);
}

}  // namespace

Status index_fill(const aclTensor& self, int64_t dim, const aclTensor& index, const aclScalar& value,
                  const aclTensor& out, Plan* plan) {
  Target target;
  Plan start;
  SOFTNPU_RETURN_IF_ERROR(target.open(out, dim, index));
  SOFTNPU_RETURN_IF_ERROR(plan_start(self, out, &start));
  return plan_fill(target, value, out.dtype, nullptr, std::move(start), describe_later({&self, &index, &out}), plan);
}

Status index_fill(const aclTensor& self, int64_t dim, const aclIntArray& index, const aclScalar& value,
                  const aclTensor& out, Plan* plan) {
  Target target;
  Plan start;
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &target.out));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, target.out.rank(), &target.dim));
  if (target.out.rank() == 0) target.out = target.out.insert(0, 1, 0);
  SOFTNPU_RETURN_IF_ERROR(plan_start(self, out, &start));
  auto indices = std::make_shared<std::vector<int64_t>>(index.begin(), index.end());
  target.index.data = reinterpret_cast<char*>(indices->data());
  target.index.dtype = ACL_INT64;
  target.index.sizes = {static_cast<int64_t>(indices->size())};
  target.index.strides = {sizeof(int64_t)};
  return plan_fill(target, value, out.dtype, indices, std::move(start), describe_later({&self, &out}), plan);
}

Status put(const aclTensor& self, const aclTensor& index, const aclTensor& source, bool accumulate, Plan* plan) {
  View to;
  View indices;
  View values;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "selfRef", &to));
  SOFTNPU_RETURN_IF_ERROR(view_of(index, "index", &indices));
  SOFTNPU_RETURN_IF_ERROR(view_of(source, "source", &values));
  SOFTNPU_RETURN_IF_ERROR(require_index(index, "index"));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, source));
  if (values.count() != indices.count()) {
    return {ACLNN_ERR_PARAM_INVALID, text(values.count(), " elements for ", indices.count(), " indices")};
  }
  if (values.sizes != indices.sizes) {
    // Elements are paired in logical order: the source must have the index's shape or be contiguous.
    int64_t next = values.element();
    for (size_t i = values.rank(); i-- > 0; next *= values.sizes[i]) {
      if (values.sizes[i] != 1 && values.strides[i] != next) {
        return {ACLNN_ERR_PARAM_INVALID, text("source is ", softnpu::describe(source), " and not contiguous; index is ",
                                              softnpu::describe(index), ": make it contiguous or of index's shape")};
      }
    }
    next = values.element();
    values.sizes = indices.sizes;
    values.strides = indices.sizes;
    for (size_t i = values.rank(); i-- > 0; next *= values.sizes[i]) values.strides[i] = next;
  }
  IndexTable table{{{indices, 0, to.count(), 0}}, indices.sizes, to.sizes, to.strides};
  table.wrap();
  RowWrites rows(accumulate ? RowOp::kAdd : RowOp::kWrite, self.dtype,
                 RowLayout(to.data, values.data, indices.sizes, values.strides, Walk<2>()));
  return plan_writes(std::move(table), std::move(rows), {}, describe_later({&self, &index, &source}), plan);
}

Status scatter_nd_update(const aclTensor& self, const aclTensor& indices, const aclTensor& updates, Plan* plan) {
  View to;
  View index;
  View values;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "selfRef", &to));
  SOFTNPU_RETURN_IF_ERROR(view_of(indices, "indices", &index));
  SOFTNPU_RETURN_IF_ERROR(view_of(updates, "updates", &values));
  SOFTNPU_RETURN_IF_ERROR(require_index(indices, "indices"));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, updates));
  if (index.rank() == 0 || index.sizes[index.rank() - 1] > static_cast<int64_t>(to.rank())) {
    return {ACLNN_ERR_PARAM_INVALID, text("indices are ", softnpu::describe(indices), " for ", softnpu::describe(self),
                                          "; their last dimension has an element for each indexed dimension")};
  }
  const size_t last = index.rank() - 1;
  const auto indexed = static_cast<size_t>(index.sizes[last]);
  IndexTable table;
  for (size_t k = 0; k < indexed; ++k) {
    const View column = index.narrow(last, static_cast<int64_t>(k), 1).erase(last);
    table.terms.push_back({column, k, to.sizes[k], to.strides[k]});
  }
  table.sizes = index.erase(last).sizes;
  Dims sizes = table.sizes;
  for (size_t i = indexed; i < to.rank(); ++i) sizes.push_back(to.sizes[i]);
  SOFTNPU_RETURN_IF_ERROR(require_sizes(updates, sizes, "updates"));
  Dims entries(values.strides.begin(), values.strides.begin() + last);
  Walk<2> rest;
  for (size_t i = indexed; i < to.rank(); ++i)
    rest.add(to.sizes[i], {to.strides[i], values.strides[last + i - indexed]});
  RowWrites rows(RowOp::kWrite, self.dtype, RowLayout(to.data, values.data, table.sizes, entries, rest));
  return plan_writes(std::move(table), std::move(rows), {}, describe_later({&self, &indices, &updates}), plan);
}

}  // namespace softnpu
