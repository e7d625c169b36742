#include <algorithm>

#include "aten/custom/dtype_number.h"
#include "aten/custom/shapes.h"

namespace torch_npu::shapes {
namespace {

Output sized_like(const at::Tensor& tensor, c10::SymDimVector sizes) { return {std::move(sizes), tensor.options()}; }

bool has(const std::optional<at::Tensor>& tensor) { return tensor.has_value() && tensor->defined(); }

void check_padded(bool padded_mode) {
  TORCH_CHECK_NOT_IMPLEMENTED(!padded_mode, "padded_mode is True: False is taken");
}

}  // namespace

Output expert_values(const at::Tensor& x, int64_t k) {
  TORCH_CHECK(x.dim() > 0, "x is a number: rows of experts are taken");
  TORCH_CHECK(k >= 0 && c10::SymInt(k) <= x.sym_size(-1), "k is ", k, " where x has ", x.sym_size(-1),
              " experts: 0 up to their number are taken");
  Output output = like(x);
  output.sizes.back() = k;
  return output;
}

Output expert_numbers(const at::Tensor& x, int64_t k) {
  Output output = expert_values(x, k);
  output.options = output.options.dtype(at::kInt);
  return output;
}

Output expert_choice(const at::Tensor& x, int64_t k, const std::optional<at::Tensor>& input_ids,
                     const std::optional<at::Tensor>& tid2eid) {
  TORCH_CHECK_NOT_IMPLEMENTED(!has(input_ids) && !has(tid2eid), "input_ids or tid2eid is given: None is taken");
  TORCH_CHECK(x.dim() == 2, "x is of size ", x.sym_sizes(), ": [N, E] is taken");
  return expert_values(x, k);
}

Output numbers_like(const at::Tensor& tensor, int64_t count) {
  TORCH_CHECK(tensor.dim() == 1 && count >= 0, "a tensor of size ", tensor.sym_sizes(), " and ", count,
              " experts: one dimension and a number that is not negative are taken");
  return sized_like(tensor, {count});
}

Output flat_like(const at::Tensor& tensor) { return sized_like(tensor, {tensor.sym_numel()}); }

Output expanded_rows(const at::Tensor& x, const at::Tensor& experts, int64_t active) {
  TORCH_CHECK(x.dim() == 2 && experts.dim() == 2 && x.sym_size(0) == experts.sym_size(0) && active >= 0,
              "x is of size ", x.sym_sizes(), ", expert_idx of size ", experts.sym_sizes(), " and active_num ", active,
              ": [N, H], [N, K] and a number that is not negative are taken");
  const c10::SymInt rows = c10::SymInt(active).min(x.sym_size(0));
  return sized_like(x, {rows * experts.sym_size(1), x.sym_size(1)});
}

Output routed_rows(const at::Tensor& x, const at::Tensor& experts, int64_t active, int64_t capacity, int64_t count,
                   int64_t drop_pad_mode, int64_t quant_mode, std::optional<int64_t> x_dtype) {
  TORCH_CHECK(x.dim() == 2 && experts.dim() == 2 && x.sym_size(0) == experts.sym_size(0), "x is of size ",
              x.sym_sizes(), " and expert_idx of size ", experts.sym_sizes(), ": [N, H] and [N, K] are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(quant_mode >= -1 && quant_mode <= 1, "quant_mode is ", quant_mode,
                              ": -1, 0 and 1 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!x_dtype.has_value() || custom::dtype_of_number("x_dtype", *x_dtype) == x.scalar_type(),
                              "x_dtype is ", x_dtype.value_or(0), " for a tensor of ", x.scalar_type(),
                              ": None or its type is taken");
  Output output = like(x);
  if (quant_mode >= 0) output.options = output.options.dtype(at::kChar);
  if (drop_pad_mode == 1) {
    TORCH_CHECK(count > 0 && capacity > 0, "expert_num is ", count, " and expert_capacity ", capacity,
                " with drop_pad_mode 1: 1 or more of both are taken");
    output.sizes = {count, capacity, x.sym_size(1)};
    return output;
  }
  const c10::SymInt all = experts.sym_numel();
  output.sizes = {active > 0 ? c10::SymInt(active).min(all) : all, x.sym_size(1)};
  return output;
}

Output routed_scales(const at::Tensor& x, const at::Tensor& experts, int64_t active, int64_t capacity, int64_t count,
                     int64_t drop_pad_mode, int64_t quant_mode, std::optional<int64_t> x_dtype) {
  const Output rows = routed_rows(x, experts, active, capacity, count, drop_pad_mode, quant_mode, x_dtype);
  const c10::SymInt all = drop_pad_mode == 1 ? rows.sizes[0] * rows.sizes[1] : rows.sizes[0];
  return {{all}, x.options().dtype(at::kFloat)};
}

Output routed_counts(const at::Tensor& x, int64_t count, int64_t type, at::IntArrayRef range) {
  constexpr int64_t kPairs = 2;
  TORCH_CHECK(count > 0, "expert_num is ", count, ": 1 or more are taken");
  TORCH_CHECK(range.empty() || (range.size() == 2 && range[0] >= 0 && range[0] < range[1] && range[1] <= count),
              "active_expert_range is ", range, " for ", count, " experts: a first one and an end are taken");
  const at::TensorOptions options = x.options().dtype(at::kLong);
  if (type == kPairs) return {{count, 2}, options};
  return {{range.empty() ? count : range[1] - range[0]}, options};
}

Output finalized_rows(const at::Tensor& rows, const at::Tensor& row_index, const std::optional<at::Tensor>& scales) {
  TORCH_CHECK(rows.dim() >= 2 && row_index.dim() == 1 && (!has(scales) || scales->dim() == 2),
              "expanded_permuted_rows is of size ", rows.sym_sizes(), " and expanded_src_to_dst_row of size ",
              row_index.sym_sizes(), ": [N K, H] or [E, C, H], [N K], and scales [N, K] are taken");
  return sized_like(rows, {has(scales) ? scales->sym_size(0) : row_index.sym_size(0), rows.sym_size(-1)});
}

Output permuted_tokens(const at::Tensor& tokens, const at::Tensor& indices, std::optional<int64_t> count,
                       bool padded_mode) {
  check_padded(padded_mode);
  TORCH_CHECK(
      tokens.dim() == 2 && (indices.dim() == 1 || indices.dim() == 2) && indices.sym_size(0) == tokens.sym_size(0),
      "tokens is of size ", tokens.sym_sizes(), " and indices of size ", indices.sym_sizes(),
      ": [N, H], and [N] or [N, K] are taken");
  const c10::SymInt all = indices.sym_numel();
  const int64_t asked = count.value_or(0);
  const c10::SymInt rows = asked > 0 ? c10::SymInt(asked).min(all) : all + asked;
  TORCH_CHECK(rows >= 0, "num_out_tokens is ", asked, " for ", all, " indices");
  return sized_like(tokens, {rows, tokens.sym_size(1)});
}

Output permuted_positions(const at::Tensor& indices) {
  return {{indices.sym_numel()}, indices.options().dtype(at::kInt)};
}

Output unpermuted_tokens(const at::Tensor& rows, const at::Tensor& positions, const std::optional<at::Tensor>& probs,
                         bool padded_mode) {
  check_padded(padded_mode);
  TORCH_CHECK(rows.dim() == 2 && positions.dim() == 1 && (!has(probs) || probs->dim() == 2),
              "permuted_tokens is of size ", rows.sym_sizes(), " and sorted_indices of size ", positions.sym_sizes(),
              ": [M, H], [N K], and probs [N, K] are taken");
  return sized_like(rows, {has(probs) ? probs->sym_size(0) : positions.sym_size(0), rows.sym_size(1)});
}

}  // namespace torch_npu::shapes
