// Operators that read and write by index, sort, or take extremes along a dimension.

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

// One of `values` at each index along `dim`, which the result has and grad and indices lack.
Tensor scattered(const char* name, const Tensor& grad, int64_t dim, const Tensor& indices, c10::SymIntArrayRef sizes,
                 bool keepdim) {
  Operands(name).take("grad", grad).take("indices", indices, kIndexes);
  Tensor result = at::zeros_symint(sizes, grad.options());
  if (sizes.empty()) return result.copy_(grad);
  const int64_t d = at::maybe_wrap_dim(dim, result.dim());
  const Tensor at = (keepdim ? indices : indices.unsqueeze(d)).to(at::kLong);
  return result.scatter_(d, at, keepdim ? grad : grad.unsqueeze(d));
}

std::tuple<Tensor, Tensor> with_int32(const std::tuple<Tensor, Tensor>& found) {
  return {std::get<0>(found), std::get<1>(found).to(at::kInt)};
}

Tensor sorted(const Tensor& self, int64_t dim, bool descending) {
  Operands("npu_sort_v2").take("input", self, aclnn_check::kAllDtypes);
  return std::get<0>(at::sort(self, dim, descending));
}

// Sums slices of grad, which are as many as `repeats`, to one.
Tensor repeats_summed(const char* name, const Tensor& grad, const Tensor& self, const c10::SymInt& repeats,
                      std::optional<int64_t> dim) {
  const int64_t d = at::maybe_wrap_dim(dim.value_or(-1), grad.dim());
  TORCH_CHECK(repeats > 0 && grad.sym_size(d) % repeats == 0, name, ": repeats is ", repeats,
              " for a gradient of size ", grad.sym_sizes(), ": it divides the size of dimension ", d);
  return grad.unflatten_symint(d, {grad.sym_size(d) / repeats, repeats}).sum(d + 1).reshape_symint(self.sym_sizes());
}

// Slices of `updates` along `axis`, from each row's index on: of a tensor [B, ...] row b begins at indices[b].
void update_rows(const char* name, const Tensor& self, const Tensor& indices, const Tensor& updates, int64_t axis) {
  Operands(name).take("input", self).take("indices", indices, kIndexes).take("updates", updates);
  const int64_t d = at::maybe_wrap_dim(axis, self.dim());
  TORCH_CHECK(
      d > 0 && indices.dim() == 1 && indices.sym_size(0) == updates.sym_size(0) && updates.dim() == self.dim() &&
          updates.sym_size(0) <= self.sym_size(0) && updates.scalar_type() == self.scalar_type(),
      name, ": updates of ", updates.scalar_type(), ", size ", updates.sym_sizes(), ", indices of size ",
      indices.sym_sizes(), " along axis ", axis, " for a tensor of ", self.scalar_type(), ", size ", self.sym_sizes(),
      ": updates has the tensor's type and dimensions, indices one number a row, the axis is not the first");
  for (int64_t i = 0; i < self.dim(); ++i) {
    const bool fits =
        i == 0 || (i == d ? updates.sym_size(i) <= self.sym_size(i) : updates.sym_size(i) == self.sym_size(i));
    TORCH_CHECK(fits, name, ": updates of size ", updates.sym_sizes(), " do not fit into a tensor of size ",
                self.sym_sizes(), " along axis ", axis);
  }
  if (self.is_meta()) return;
  std::vector<c10::SymInt> shape(static_cast<std::size_t>(self.dim()), 1);
  shape[static_cast<std::size_t>(d)] = updates.sym_size(d);
  const Tensor steps = at::arange(updates.size(d), indices.options().dtype(at::kLong)).reshape_symint(shape);
  shape[static_cast<std::size_t>(d)] = 1;
  shape[0] = indices.sym_size(0);
  const Tensor positions = (indices.to(at::kLong).reshape_symint(shape) + steps).expand_as(updates);
  self.narrow(0, 0, updates.size(0)).scatter_(d, positions, updates);
}

}  // namespace

std::tuple<Tensor, Tensor> npu_max(const Tensor& self, int64_t dim, bool keepdim) {
  Operands("npu_max").take("input", self, aclnn_check::kAllDtypes);
  return with_int32(at::max(self, dim, keepdim));
}

std::tuple<Tensor, Tensor> npu_min(const Tensor& self, int64_t dim, bool keepdim) {
  Operands("npu_min").take("input", self, aclnn_check::kAllDtypes);
  return with_int32(at::min(self, dim, keepdim));
}

Tensor npu_max_backward(const Tensor& grad, int64_t dim, const Tensor& indices, c10::SymIntArrayRef sizes,
                        bool keepdim) {
  return scattered("npu_max_backward", grad, dim, indices, sizes, keepdim);
}

Tensor npu_min_backward(const Tensor& grad, int64_t dim, const Tensor& indices, c10::SymIntArrayRef sizes,
                        bool keepdim) {
  return scattered("npu_min_backward", grad, dim, indices, sizes, keepdim);
}

// indices and updates lack `dim`.
Tensor npu_scatter(const Tensor& self, const Tensor& indices, const Tensor& updates, int64_t dim) {
  Operands("npu_scatter")
      .take("input", self)
      .take("indices", indices, kIndexes)
      .take("updates", updates, aclnn_check::dtype_bit(self.scalar_type()));
  const int64_t d = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(indices.sym_sizes() == updates.sym_sizes() && indices.dim() + 1 == self.dim(),
              "npu_scatter: indices of size ", indices.sym_sizes(), " and updates of size ", updates.sym_sizes(),
              ": both have the size of a tensor of size ", self.sym_sizes(), " without dimension ", dim);
  return at::scatter(self, d, indices.to(at::kLong).unsqueeze(d), updates.unsqueeze(d));
}

Tensor npu_sort_v2(const Tensor& self, int64_t dim, bool descending) { return sorted(self, dim, descending); }
Tensor& npu_sort_v2_outf(const Tensor& self, int64_t dim, bool descending, Tensor& out) {
  return give(sorted(self, dim, descending), out);
}

Tensor npu_gather_backward(const Tensor& grad, c10::SymIntArrayRef self_size, int64_t dim, const Tensor& index,
                           bool sparse_grad) {
  Operands("npu_gather_backward").take("grad", grad).take("index", index, kIndexes);
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse_grad, "npu_gather_backward: sparse_grad is True: False is taken");
  return at::zeros_symint(self_size, grad.options()).scatter_add_(dim, index.to(at::kLong), grad);
}

Tensor npu_gather_sparse_index(const Tensor& input, const Tensor& index) {
  Operands("npu_gather_sparse_index").take("input", input).take("index", index, kIndexes);
  TORCH_CHECK(input.dim() > 0, "npu_gather_sparse_index: input has no dimension");
  std::vector<c10::SymInt> sizes = index.sym_sizes().vec();
  sizes.insert(sizes.end(), input.sym_sizes().begin() + 1, input.sym_sizes().end());
  return at::index_select(input, 0, index.flatten()).reshape_symint(sizes);
}

Tensor npu_gather_sparse_index_backward(const Tensor& grad, c10::SymIntArrayRef self_sizes, const Tensor& index) {
  Operands("npu_gather_sparse_index_backward").take("grad", grad).take("index", index, kIndexes);
  TORCH_CHECK(!self_sizes.empty(), "npu_gather_sparse_index_backward: self_sizes is empty");
  std::vector<c10::SymInt> rows = {index.sym_numel()};
  rows.insert(rows.end(), self_sizes.begin() + 1, self_sizes.end());
  return at::zeros_symint(self_sizes, grad.options()).index_add_(0, index.flatten(), grad.reshape_symint(rows));
}

Tensor _npu_index_add(const Tensor& self, const Tensor& index, const Tensor& source, const at::Scalar& alpha) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return _npu_index_add_(result, index, source, alpha);
}

// index has any number of dimensions, which replace the first one of self in source.
Tensor& _npu_index_add_(Tensor& self, const Tensor& index, const Tensor& source, const at::Scalar& alpha) {
  Operands("_npu_index_add")
      .take("input", self)
      .take("index", index, kIndexes)
      .take("source", source, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK(self.dim() > 0, "_npu_index_add: input has no dimension");
  std::vector<c10::SymInt> rows = {index.sym_numel()};
  rows.insert(rows.end(), self.sym_sizes().begin() + 1, self.sym_sizes().end());
  return self.index_add_(0, index.flatten(), source.reshape_symint(rows), alpha);
}

Tensor repeat_interleave_backward_int(const Tensor& grad, const Tensor& self, c10::SymInt repeats,
                                      std::optional<int64_t> dim) {
  Operands("repeat_interleave_backward_int").take("grad", grad).take("input", self);
  return repeats_summed("repeat_interleave_backward_int", grad, self, repeats, dim);
}

Tensor repeat_interleave_backward_tensor(const Tensor& grad, const Tensor& self, const Tensor& repeats,
                                         std::optional<int64_t> dim) {
  constexpr const char* kName = "repeat_interleave_backward_tensor";
  Operands(kName).take("grad", grad).take("input", self).take("repeats", repeats, kIndexes);
  if (grad.is_meta()) return at::empty_symint(self.sym_sizes(), grad.options());
  if (repeats.numel() == 1) return repeats_summed(kName, grad, self, repeats.item().toLong(), dim);
  const int64_t d = at::maybe_wrap_dim(dim.value_or(-1), grad.dim());
  TORCH_CHECK(repeats.dim() == 1, kName, ": repeats is of size ", repeats.sizes(), ": one dimension is taken");
  const Tensor rows = at::repeat_interleave(at::arange(repeats.size(0), repeats.options().dtype(at::kLong)), repeats);
  TORCH_CHECK(rows.size(0) == grad.size(d), kName, ": repeats sum to ", rows.size(0), " for a gradient of size ",
              grad.sizes(), " in dimension ", d);
  std::vector<int64_t> sizes = grad.sizes().vec();
  sizes[static_cast<std::size_t>(d)] = repeats.size(0);
  return at::zeros(sizes, grad.options()).index_add_(d, rows, grad).reshape(self.sizes());
}

Tensor scatter_update(const Tensor& self, const Tensor& indices, const Tensor& updates, int64_t axis) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  update_rows("scatter_update", result, indices, updates, axis);
  return result;
}

Tensor& scatter_update_(Tensor& self, const Tensor& indices, const Tensor& updates, int64_t axis) {
  update_rows("scatter_update_", self, indices, updates, axis);
  return self;
}

// Channels from the offsets on, zeros behind the last one, 16 c1_len of them.
Tensor npu_stride_add(const Tensor& self, const Tensor& other, const at::Scalar& offset1, const at::Scalar& offset2,
                      const at::Scalar& c1_len) {
  constexpr const char* kName = "npu_stride_add";
  constexpr int64_t kBlock = 16;
  Operands(kName).take("input", self, kReals).take("other", other, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK(self.dim() >= 2 && self.dim() == other.dim() && c1_len.toLong() > 0, kName, ": tensors of size ",
              self.sym_sizes(), " and ", other.sym_sizes(), ", c1_len ", c1_len,
              ": both have channels as dimension 1, c1_len is positive");
  const int64_t channels = c1_len.toLong() * kBlock;
  const auto part = [&](const Tensor& tensor, int64_t offset) {
    TORCH_CHECK(0 <= offset && tensor.sym_size(1) >= offset, kName, ": offset ", offset, " in a tensor of size ",
                tensor.sym_sizes());
    const Tensor taken = tensor.slice(1, offset, offset + channels);
    std::vector<c10::SymInt> padding(static_cast<std::size_t>(tensor.dim() - 1) * 2, 0);
    padding.back() = c10::SymInt(channels) - taken.sym_size(1);
    return at::constant_pad_nd_symint(taken, padding, 0);
  };
  return part(self, offset1.toLong()) + part(other, offset2.toLong());
}

// start and end are [N, S], value is [N]: the elements from start[n, s] to end[n, s] of `axis` become value[n]. Where
// axis is the last one and not the first, they are those of row s.
Tensor npu_masked_fill_range(const Tensor& self, const Tensor& start, const Tensor& end, const Tensor& value,
                             int64_t axis) {
  constexpr const char* kName = "npu_masked_fill_range";
  Operands(kName)
      .take("input", self)
      .take("start", start, kIndexes)
      .take("end", end, kIndexes)
      .take("value", value, aclnn_check::dtype_bit(self.scalar_type()));
  const int64_t d = at::maybe_wrap_dim(axis, self.dim(), /*wrap_scalar=*/false);
  TORCH_CHECK(self.dim() <= 3 && start.dim() == 2 && start.sym_sizes() == end.sym_sizes() && value.dim() == 1 &&
                  value.sym_size(0) == start.sym_size(0),
              kName, ": start of size ", start.sym_sizes(), ", end of size ", end.sym_sizes(), " and value of size ",
              value.sym_sizes(), " for a tensor of size ", self.sym_sizes(),
              ": start and end are [N, S], value is [N], the tensor has at most three dimensions");
  const bool has_rows = d > 0 && d == self.dim() - 1;
  TORCH_CHECK(!has_rows || start.sym_size(1) <= self.sym_size(0), kName, ": start of size ", start.sym_sizes(),
              " has more rows than a tensor of size ", self.sym_sizes());
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  if (self.is_meta() || self.numel() == 0) return result;
  const Tensor places = at::arange(self.size(d), start.options());
  for (int64_t n = 0; n < start.size(0); ++n) {
    // [S, size of axis]
    const Tensor within = at::logical_and(places >= start[n].unsqueeze(1), places < end[n].unsqueeze(1));
    const Tensor rows = has_rows ? result.narrow(0, 0, start.size(1)) : result;
    std::vector<int64_t> shape(static_cast<std::size_t>(self.dim()), 1);
    shape[static_cast<std::size_t>(d)] = self.size(d);
    if (has_rows) shape[0] = start.size(1);
    rows.masked_fill_((has_rows ? within : within.any(0)).reshape(shape), value[n]);
  }
  return result;
}

// The axis of depth `depth` stands at `num_classes`, -1 for the last one.
Tensor npu_one_hot(const Tensor& self, int64_t num_classes, int64_t depth, const at::Scalar& on_value,
                   const at::Scalar& off_value) {
  Operands("npu_one_hot").take("input", self, dtypes({at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}));
  TORCH_CHECK(depth > 0, "npu_one_hot: depth is ", depth, ": a positive number is taken");
  const int64_t axis = at::maybe_wrap_dim(num_classes, self.dim() + 1);
  std::vector<int64_t> shape(static_cast<std::size_t>(self.dim()) + 1, 1);
  shape[static_cast<std::size_t>(axis)] = depth;
  const Tensor classes = at::arange(depth, self.options().dtype(at::kLong)).reshape(shape);
  const Tensor is_on = self.to(at::kLong).unsqueeze(axis) == classes;
  return at::where(is_on, on_value, off_value).to(at::kFloat);
}

}  // namespace torch_npu::custom
