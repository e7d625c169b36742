// Products of each expert's rows with what stands before and behind them, and tables of experts.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "aten/composed/exact_products.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/composed/sequences.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kRowed = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kScaled = kRowed | dtypes({at::kLong});

bool given_tensor(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// The rows of each group: `list` has counts, or ends.
std::vector<Span> groups_of(const char* name, const Tensor& list, bool has_counts, int64_t rows) {
  std::vector<Span> found;
  int64_t begin = 0;
  for (const int64_t number : numbers_of(name, "group_list", list)) {
    const int64_t count = has_counts ? number : number - begin;
    TORCH_CHECK(count >= 0 && begin + count <= rows, "npu::", name, ": group_list has ", number, " behind ", begin,
                " for ", rows, " rows");
    found.push_back({begin, count});
    begin += count;
  }
  return found;
}

void check_groups(const char* name, const std::vector<Span>& groups, int64_t experts) {
  TORCH_CHECK(static_cast<int64_t>(groups.size()) == experts, "npu::", name, ": group_list has ", groups.size(),
              " numbers for ", experts, " weights");
}

// int8 rows of groups times their weights [E, K, N], with factors of columns [E, N] and rows [M], in float32. Rows
// behind the last group are zeros.
Tensor grouped_int8(const char* name, const Tensor& x, const Tensor& weight, const std::vector<Span>& groups,
                    const Tensor& column_factors, const OptionalTensor& row_factors) {
  check_groups(name, groups, weight.size(0));
  const Tensor result = at::zeros({x.size(0), weight.size(2)}, x.options().dtype(at::kFloat));
  for (std::size_t e = 0; e < groups.size(); ++e) {
    const Span& group = groups[e];
    if (group.count == 0) continue;
    const auto number = static_cast<int64_t>(e);
    const Tensor rows = x.slice(0, group.begin, group.end());
    result.slice(0, group.begin, group.end())
        .copy_(exact_product(rows, weight.select(0, number)) * column_factors.select(0, number).reshape({1, -1}));
  }
  return given_tensor(row_factors) ? result * row_factors->reshape({-1, 1}) : result;
}

struct Gated {
  const char* name;
  const Tensor &x, &weight, &weight_scale, &x_scale, &group_list;
  bool has_counts;

  void check() const {
    Operands(name)
        .take("x", x, dtypes({at::kChar}))
        .take("weight", weight, dtypes({at::kChar}))
        .take("weight_scale", weight_scale, kScaled)
        .take("x_scale", x_scale, dtypes({at::kFloat}))
        .take("group_list", group_list, kIndexes);
    TORCH_CHECK(x.dim() == 2 && weight.dim() == 3 && weight.sym_size(1) == x.sym_size(1) &&
                    weight.sym_size(2) % 2 == 0 && weight_scale.dim() == 2 &&
                    weight_scale.sym_size(0) == weight.sym_size(0) && weight_scale.sym_size(1) == weight.sym_size(2) &&
                    x_scale.sym_numel() == x.sym_size(0),
                "npu::", name, ": x is of size ", x.sym_sizes(), ", weight of size ", weight.sym_sizes(),
                ", weight_scale of size ", weight_scale.sym_sizes(), ", x_scale of size ", x_scale.sym_sizes(),
                ": [M, K], [E, K, N] with an even N, [E, N] and [M] are taken");
  }

  // int8 [M, N / 2] and float32 [M].
  ScaledRows run() const {
    if (x.is_meta()) {
      return {at::empty_symint({x.sym_size(0), weight.sym_size(2) / 2}, x.options()),
              at::empty_symint({x.sym_size(0)}, x.options().dtype(at::kFloat))};
    }
    const std::vector<Span> groups = groups_of(name, group_list, has_counts, x.size(0));
    const Tensor y = grouped_int8(name, x, weight, groups, factors_of(weight_scale), x_scale);
    const std::vector<Tensor> halves = y.chunk(2, 1);
    const ScaledRows rows = rows_to_int8(at::silu(halves[0]) * halves[1]);
    // Rows of no group have no scale.
    const int64_t end = groups.empty() ? 0 : groups.back().end();
    const Tensor is_grouped = at::arange(x.size(0), group_list.options()) < end;
    return {rows.values, rows.scales * is_grouped.to(at::kFloat)};
  }
};

// ---- feed-forward networks ----

Tensor activated(const char* name, const Tensor& x, std::string_view activation) {
  constexpr double kFast = 1.702;
  const auto halves = [&] { return x.chunk(2, -1); };
  if (activation == "relu") return at::relu(x);
  if (activation == "gelu") return at::gelu(x);
  if (activation == "fastgelu") return x * at::sigmoid(x * kFast);
  if (activation == "silu") return at::silu(x);
  if (activation == "geglu") return at::gelu(halves()[0]) * halves()[1];
  if (activation == "swiglu") return at::silu(halves()[0]) * halves()[1];
  if (activation == "reglu") return at::relu(halves()[0]) * halves()[1];
  TORCH_CHECK(false, "npu::", name, ": activation is '", activation,
              "': fastgelu, gelu, relu, silu, geglu, swiglu and reglu are taken");
}

// One expert's number of a tensor [E, ...], or the tensor where there are no experts.
Tensor of_expert(const Tensor& tensor, int64_t expert) { return expert < 0 ? tensor : tensor.select(0, expert); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> npu_grouped_matmul_swiglu_quant(const Tensor& x, const Tensor& weight,
                                                                   const Tensor& group_list, const Tensor& weight_scale,
                                                                   const Tensor& x_scale, const OptionalTensor& bias,
                                                                   const OptionalTensor& offset) {
  const Gated gated{"npu_grouped_matmul_swiglu_quant", x, weight, weight_scale, x_scale, group_list, false};
  gated.check();
  Operands(gated.name).take("x", x).take("bias", bias).take("offset", offset);
  TORCH_CHECK_NOT_IMPLEMENTED(!given_tensor(bias) && !given_tensor(offset), "npu::", gated.name,
                              ": bias or offset is given: None is taken");
  const ScaledRows rows = gated.run();
  return {rows.values, rows.scales, at::empty({0}, x.options().dtype(at::kFloat))};
}

std::tuple<Tensor, Tensor> npu_grouped_matmul_swiglu_quant_v2(
    const Tensor& x, at::TensorList weight, at::TensorList weight_scale, const Tensor& x_scale,
    const Tensor& group_list, const OptionalTensor& smooth_scale, std::optional<at::TensorList> weight_assist_matrix,
    const OptionalTensor& bias, std::optional<int64_t> dequant_mode, std::optional<int64_t> /*dequant_dtype*/,
    std::optional<int64_t> quant_mode, std::optional<int64_t> quant_dtype, std::optional<int64_t> group_list_type,
    at::OptionalIntArrayRef /*tuning_config*/, std::optional<int64_t> x_dtype, std::optional<int64_t> weight_dtype,
    std::optional<int64_t> weight_scale_dtype, std::optional<int64_t> x_scale_dtype) {
  constexpr const char* kName = "npu_grouped_matmul_swiglu_quant_v2";
  TORCH_CHECK(weight.size() == 1 && weight_scale.size() == 1, "npu::", kName, ": weight has ", weight.size(),
              " tensors, weight_scale ", weight_scale.size(), ": one is taken");
  const int64_t type = group_list_type.value_or(0), wanted = quant_dtype.value_or(1);
  TORCH_CHECK(type == 0 || type == 1, "npu::", kName, ": group_list_type is ", type, ": 0 and 1 are taken");
  const bool has_types =
      x_dtype.has_value() || weight_dtype.has_value() || weight_scale_dtype.has_value() || x_scale_dtype.has_value();
  TORCH_CHECK_NOT_IMPLEMENTED(
      !given_tensor(smooth_scale) && !(weight_assist_matrix.has_value() && !weight_assist_matrix->empty()) &&
          !given_tensor(bias) && dequant_mode.value_or(0) == 0 && quant_mode.value_or(0) == 0 && wanted <= 1 &&
          !has_types,
      "npu::", kName, ": dequant_mode is ", dequant_mode.value_or(0), ", quant_mode ", quant_mode.value_or(0),
      ", quant_dtype ", wanted,
      ", or smooth_scale, weight_assist_matrix, bias or a type is given: int8 operands and results with 0, 0 and 1 are "
      "taken");
  const Gated gated{kName, x, weight[0], weight_scale[0], x_scale, group_list, type == 1};
  gated.check();
  const ScaledRows rows = gated.run();
  return {rows.values, rows.scales};
}

Tensor& npu_grouped_matmul_add_(Tensor& self, const Tensor& x, const Tensor& weight, const Tensor& group_list,
                                bool transpose_x, bool transpose_weight, int64_t group_type,
                                std::optional<int64_t> group_list_type) {
  constexpr const char* kName = "npu_grouped_matmul_add";
  Operands(kName)
      .take("input", self, dtypes({at::kFloat}))
      .take("x", x, kRowed)
      .take("weight", weight, aclnn_check::dtype_bit(x.scalar_type()))
      .take("group_list", group_list, kIndexes);
  const int64_t type = group_list_type.value_or(0);
  TORCH_CHECK_NOT_IMPLEMENTED(transpose_x && !transpose_weight && group_type == 2 && (type == 0 || type == 1),
                              "npu::", kName, ": transpose_x is ", transpose_x, ", transpose_weight ", transpose_weight,
                              ", group_type ", group_type, ", group_list_type ", type,
                              ": True, False, 2, and 0 or 1 are taken");
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2 && x.sym_size(0) == weight.sym_size(0) && group_list.dim() == 1 &&
                  self.sym_numel() == group_list.sym_size(0) * x.sym_size(1) * weight.sym_size(1) &&
                  self.is_contiguous(),
              "npu::", kName, ": input is of size ", self.sym_sizes(), ", x of size ", x.sym_sizes(),
              ", weight of size ", weight.sym_sizes(), ", group_list of size ", group_list.sym_sizes(),
              ": contiguous [E, M, N] or [E M, N], [K, M], [K, N] and [E] are taken");
  if (self.is_meta()) return self;
  const std::vector<Span> groups = groups_of(kName, group_list, type == 1, x.size(0));
  Tensor sums = self.view({static_cast<int64_t>(groups.size()), x.size(1), weight.size(1)});
  for (std::size_t e = 0; e < groups.size(); ++e) {
    const Span& group = groups[e];
    const auto rows = [&](const Tensor& t) { return t.slice(0, group.begin, group.end()).to(at::kFloat); };
    if (group.count > 0) sums.select(0, static_cast<int64_t>(e)).add_(at::mm(rows(x).t(), rows(weight)));
  }
  return self;
}

Tensor npu_grouped_matmul_add(const Tensor& self, const Tensor& x, const Tensor& weight, const Tensor& group_list,
                              bool transpose_x, bool transpose_weight, int64_t group_type,
                              std::optional<int64_t> group_list_type) {
  Operands("npu_grouped_matmul_add").take("input", self, dtypes({at::kFloat}));
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return npu_grouped_matmul_add_(result, x, weight, group_list, transpose_x, transpose_weight, group_type,
                                 group_list_type);
}

Tensor npu_grouped_matmul_finalize_routing(
    const Tensor& x, const Tensor& w, const Tensor& group_list, const OptionalTensor& scale, const OptionalTensor& bias,
    const OptionalTensor& offset, const OptionalTensor& pertoken_scale, const OptionalTensor& shared_input,
    const OptionalTensor& logit, const OptionalTensor& row_index, std::optional<at::ScalarType> dtype,
    std::optional<double> shared_input_weight, std::optional<int64_t> shared_input_offset,
    std::optional<int64_t> output_bs, std::optional<int64_t> group_list_type, at::OptionalIntArrayRef /*tuning_config*/,
    std::optional<int64_t> x_dtype, std::optional<int64_t> w_dtype, std::optional<int64_t> scale_dtype,
    std::optional<int64_t> pertoken_scale_dtype) {
  constexpr const char* kName = "npu_grouped_matmul_finalize_routing";
  Operands(kName)
      .take("x", x, dtypes({at::kChar}))
      .take("w", w, dtypes({at::kChar}))
      .take("group_list", group_list, kIndexes)
      .take("scale", scale, dtypes({at::kFloat, at::kBFloat16}))
      .take("bias", bias)
      .take("offset", offset)
      .take("pertoken_scale", pertoken_scale, dtypes({at::kFloat}))
      .take("shared_input", shared_input, kRowed)
      .take("logit", logit, dtypes({at::kFloat}))
      .take("row_index", row_index, kIndexes);
  const bool has_types =
      x_dtype.has_value() || w_dtype.has_value() || scale_dtype.has_value() || pertoken_scale_dtype.has_value();
  TORCH_CHECK_NOT_IMPLEMENTED(
      !given_tensor(bias) && !given_tensor(offset) && !has_types && dtype.value_or(at::kFloat) == at::kFloat,
      "npu::", kName, ": bias, offset or a type is given: int8 operands and float32 are taken");
  TORCH_CHECK(given_tensor(scale) && given_tensor(row_index), "npu::", kName,
              ": scale or row_index is None: both are taken");
  const int64_t rows = output_bs.value_or(0), type = group_list_type.value_or(1);
  TORCH_CHECK(x.dim() == 2 && w.dim() == 3 && w.sym_size(1) == x.sym_size(1) && scale->dim() == 2 &&
                  scale->sym_size(0) == w.sym_size(0) && scale->sym_size(1) == w.sym_size(2) &&
                  row_index->sym_numel() == x.sym_size(0) && rows >= 0 && (type == 0 || type == 1),
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", w of size ", w.sym_sizes(), ", scale of size ",
              scale->sym_sizes(), ", row_index of size ", row_index->sym_sizes(), ", output_bs ", rows,
              ", group_list_type ", type, ": [M, K], [E, K, N], [E, N], [M], no negative number, and 0 or 1 are taken");
  const c10::SymInt batch = rows > 0 ? c10::SymInt(rows) : x.sym_size(0);
  if (x.is_meta()) return at::empty_symint({batch, w.sym_size(2)}, x.options().dtype(at::kFloat));
  const int64_t count = rows > 0 ? rows : x.size(0);
  const std::vector<Span> groups = groups_of(kName, group_list, type == 1, x.size(0));
  Tensor y = grouped_int8(kName, x, w, groups, factors_of(*scale), pertoken_scale);
  if (given_tensor(logit)) y = y * logit->reshape({-1, 1});
  const int64_t end = groups.empty() ? 0 : groups.back().end();
  const Tensor where = row_index->reshape({-1}).slice(0, 0, end).to(at::kLong);
  const bool fits = end == 0 || at::logical_and(where >= 0, where < count).all().item<bool>();
  TORCH_CHECK(fits, "npu::", kName, ": row_index has a number that is none of ", count, " rows");
  Tensor result = at::zeros({count, w.size(2)}, y.options()).index_add_(0, where, y.slice(0, 0, end));
  if (given_tensor(shared_input)) {
    const int64_t from = shared_input_offset.value_or(0), to = from + shared_input->size(0);
    TORCH_CHECK(from >= 0 && to <= count && shared_input->size(1) == w.size(2), "npu::", kName,
                ": shared_input is of size ", shared_input->sizes(), " at row ", from, " of a result of size ",
                result.sizes());
    result.slice(0, from, to).add_(shared_input->to(at::kFloat) * shared_input_weight.value_or(1));
  }
  return result;
}

Tensor npu_ffn(const Tensor& x, const Tensor& weight1, const Tensor& weight2, std::string_view activation,
               at::OptionalIntArrayRef expert_tokens, at::OptionalIntArrayRef expert_tokens_index,
               const OptionalTensor& bias1, const OptionalTensor& bias2, const OptionalTensor& scale,
               const OptionalTensor& offset, const OptionalTensor& deq_scale1, const OptionalTensor& deq_scale2,
               const OptionalTensor& antiquant_scale1, const OptionalTensor& antiquant_scale2,
               const OptionalTensor& antiquant_offset1, const OptionalTensor& antiquant_offset2,
               std::optional<int64_t> /*inner_precise*/, std::optional<at::ScalarType> output_dtype) {
  constexpr const char* kName = "npu_ffn";
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  const bool is_int8 = x.scalar_type() == at::kChar, has_int_weights = !is_int8 && weight1.scalar_type() == at::kChar;
  Operands(kName)
      .take("x", x, kRowed | dtypes({at::kChar}))
      .take("weight1", weight1, same | dtypes({at::kChar}))
      .take("weight2", weight2, aclnn_check::dtype_bit(weight1.scalar_type()))
      .take("bias1", bias1, kRowed | dtypes({at::kInt}))
      .take("bias2", bias2, kRowed | dtypes({at::kInt}))
      .take("scale", scale, dtypes({at::kFloat}))
      .take("offset", offset, dtypes({at::kFloat}))
      .take("deq_scale1", deq_scale1, kScaled)
      .take("deq_scale2", deq_scale2, kScaled)
      .take("antiquant_scale1", antiquant_scale1, kRowed)
      .take("antiquant_scale2", antiquant_scale2, kRowed)
      .take("antiquant_offset1", antiquant_offset1, kRowed)
      .take("antiquant_offset2", antiquant_offset2, kRowed);
  const bool has_experts = (expert_tokens.has_value() && !expert_tokens->empty()) ||
                           (expert_tokens_index.has_value() && !expert_tokens_index->empty());
  const int64_t dims = has_experts ? 3 : 2;
  TORCH_CHECK(x.dim() >= 2 && weight1.dim() == dims && weight2.dim() == dims && weight1.sym_size(-2) == x.sym_size(-1),
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", weight1 of size ", weight1.sym_sizes(),
              ", weight2 of size ", weight2.sym_sizes(),
              ": [*, K], [K, N] and [N, K'], with experts [E, K, N] and [E, N, K'], are taken");
  TORCH_CHECK(is_int8 == (given_tensor(scale) && given_tensor(deq_scale1) && given_tensor(deq_scale2)) &&
                  has_int_weights == (given_tensor(antiquant_scale1) && given_tensor(antiquant_scale2)),
              "npu::", kName, ": x of ", x.scalar_type(), " and weights of ", weight1.scalar_type(),
              ": int8 for both has scale, deq_scale1 and deq_scale2, for weights alone antiquant_scale1 and "
              "antiquant_scale2");
  const at::ScalarType type = is_int8 ? output_dtype.value_or(at::kHalf) : x.scalar_type();
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes.back() = weight2.sym_size(-1);
  if (x.is_meta()) return at::empty_symint(sizes, x.options().dtype(type));
  const Tensor rows = x.reshape({-1, x.size(-1)});
  std::vector<Span> groups = {{0, rows.size(0)}};
  if (has_experts) {
    groups.clear();
    const bool has_ends = !expert_tokens.has_value() || expert_tokens->empty();
    int64_t begin = 0;
    for (const int64_t number : has_ends ? *expert_tokens_index : *expert_tokens) {
      const int64_t count = has_ends ? number - begin : number;
      TORCH_CHECK(count >= 0 && begin + count <= rows.size(0), "npu::", kName, ": expert_tokens has ", number,
                  " behind ", begin, " for ", rows.size(0), " rows");
      groups.push_back({begin, count});
      begin += count;
    }
    check_groups(kName, groups, weight1.size(0));
    TORCH_CHECK(begin == rows.size(0), "npu::", kName, ": expert_tokens has a sum of ", begin, " for ", rows.size(0),
                " rows");
  }
  std::vector<Tensor> parts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const int64_t expert = has_experts ? static_cast<int64_t>(g) : -1;
    const auto added = [&](const Tensor& y, const OptionalTensor& bias) {
      return given_tensor(bias) ? y + of_expert(*bias, expert).to(at::kFloat) : y;
    };
    const auto weights = [&](const Tensor& w, const OptionalTensor& factor, const OptionalTensor& shift) {
      const Tensor own = of_expert(w, expert).to(at::kFloat);
      if (!has_int_weights) return own;
      const Tensor moved = given_tensor(shift) ? own + of_expert(*shift, expert).to(at::kFloat) : own;
      return moved * of_expert(*factor, expert).to(at::kFloat);
    };
    const Tensor own = rows.slice(0, groups[g].begin, groups[g].end());
    if (is_int8) {
      const auto factor = [&](const OptionalTensor& f) { return factors_of(of_expert(*f, expert)).reshape({-1}); };
      const Tensor first = added(exact_product(own, of_expert(weight1, expert)), bias1) * factor(deq_scale1);
      Tensor y = activated(kName, first, activation) * of_expert(*scale, expert);
      if (given_tensor(offset)) y = y + of_expert(*offset, expert);
      parts.push_back(added(exact_product(rounded_to_int8(y), of_expert(weight2, expert)), bias2) * factor(deq_scale2));
      continue;
    }
    const Tensor hidden =
        added(at::mm(own.to(at::kFloat), weights(weight1, antiquant_scale1, antiquant_offset1)), bias1);
    parts.push_back(added(
        at::mm(activated(kName, hidden, activation), weights(weight2, antiquant_scale2, antiquant_offset2)), bias2));
  }
  return at::cat(parts).to(type).reshape_symint(sizes);
}

std::tuple<Tensor, Tensor> npu_moe_update_expert(const Tensor& expert_ids, const Tensor& eplb_table,
                                                 const OptionalTensor& expert_scales,
                                                 const OptionalTensor& pruning_threshold,
                                                 const OptionalTensor& active_mask, int64_t local_rank_id,
                                                 int64_t world_size, int64_t balance_mode) {
  constexpr const char* kName = "npu_moe_update_expert";
  Operands(kName)
      .take("expert_ids", expert_ids, kIndexes)
      .take("eplb_table", eplb_table, kIndexes)
      .take("expert_scales", expert_scales, kRowed)
      .take("pruning_threshold", pruning_threshold, dtypes({at::kFloat}))
      .take("active_mask", active_mask, dtypes({at::kBool}));
  TORCH_CHECK(expert_ids.dim() == 2 && eplb_table.dim() == 2 && eplb_table.sym_size(1) >= 2, "npu::", kName,
              ": expert_ids is of size ", expert_ids.sym_sizes(), ", eplb_table of size ", eplb_table.sym_sizes(),
              ": [T, K] and [E, F] with F of 2 and more are taken");
  TORCH_CHECK(
      (balance_mode == 0 && world_size > 0 && local_rank_id >= 0 && local_rank_id < world_size) || balance_mode == 1,
      "npu::", kName, ": balance_mode is ", balance_mode, ", local_rank_id ", local_rank_id, ", world_size ",
      world_size, ": 1, or 0 with a rank of the world, is taken");
  const bool prunes = given_tensor(expert_scales);
  TORCH_CHECK(prunes == given_tensor(pruning_threshold) && (prunes || !given_tensor(active_mask)), "npu::", kName,
              ": expert_scales, pruning_threshold or active_mask is None: the first two are taken together, the third "
              "with them");
  TORCH_CHECK(!prunes || (expert_scales->sym_sizes() == expert_ids.sym_sizes() &&
                          pruning_threshold->sym_numel() == expert_ids.sym_size(1)),
              "npu::", kName, ": expert_scales or pruning_threshold are not of size ", expert_ids.sym_sizes(), " and ",
              expert_ids.sym_size(1));
  const auto mask_options = expert_ids.options().dtype(at::kBool);
  if (expert_ids.is_meta()) {
    return {at::empty_symint(expert_ids.sym_sizes(), expert_ids.options()),
            prunes ? at::empty_symint(expert_ids.sym_sizes(), mask_options) : at::empty({0}, mask_options)};
  }
  const Tensor ids = expert_ids.to(at::kLong), table = eplb_table.to(at::kLong);
  const Tensor own = table.index({ids});  // [T, K, F]: how many places, and which
  const Tensor count = own.select(2, 0);
  Tensor location = at::ones_like(count);
  if (balance_mode == 0) {
    // Each place has as many ranks as the others, the last one fewer.
    const Tensor shares = at::div(at::full_like(count, world_size) + count - 1, count, "floor");
    location = at::div(at::full_like(count, local_rank_id), shares, "floor") + 1;
  } else {
    location = at::remainder(at::arange(ids.size(0), ids.options()).unsqueeze(1), count) + 1;
  }
  const Tensor chosen = own.gather(2, at::where(count == 1, 1, location).unsqueeze(2)).squeeze(2);
  Tensor mask = at::empty({0}, mask_options);
  if (prunes) {
    const Tensor scales = expert_scales->to(at::kFloat);
    mask = scales.sum(1, true) * pruning_threshold->reshape({1, -1}) < scales;
    if (given_tensor(active_mask)) mask = at::logical_and(mask, active_mask->reshape({-1, 1}));
  }
  return {chosen.to(expert_ids.scalar_type()), mask};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> npu_moe_re_routing(const Tensor& tokens,
                                                              const Tensor& expert_token_num_per_rank,
                                                              const OptionalTensor& per_token_scales,
                                                              int64_t expert_token_num_type, int64_t idx_type,
                                                              std::optional<int64_t> tokens_dtype) {
  constexpr const char* kName = "npu_moe_re_routing";
  Operands(kName)
      .take("tokens", tokens, kRowed | dtypes({at::kChar, at::kByte}))
      .take("expert_token_num_per_rank", expert_token_num_per_rank, kIndexes)
      .take("per_token_scales", per_token_scales, dtypes({at::kFloat, at::kByte}));
  TORCH_CHECK(tokens.dim() == 2 && expert_token_num_per_rank.dim() == 2, "npu::", kName, ": tokens is of size ",
              tokens.sym_sizes(), ", expert_token_num_per_rank of size ", expert_token_num_per_rank.sym_sizes(),
              ": [A, H] and [ranks, experts] are taken");
  TORCH_CHECK(expert_token_num_type == 0 || expert_token_num_type == 1, "npu::", kName, ": expert_token_num_type is ",
              expert_token_num_type, ": 0 and 1 are taken");
  TORCH_CHECK(idx_type == 0 || idx_type == 1, "npu::", kName, ": idx_type is ", idx_type, ": 0 and 1 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!tokens_dtype.has_value(), "npu::", kName, ": tokens_dtype is ", *tokens_dtype,
                              ": None is taken");
  const bool has_scales = given_tensor(per_token_scales);
  const auto scale_options = has_scales ? per_token_scales->options() : tokens.options().dtype(at::kFloat);
  const c10::SymInt count = tokens.sym_size(0);
  const Tensor per_expert = expert_token_num_per_rank.sum(0);
  const Tensor listed =
      (expert_token_num_type == 1 ? per_expert : per_expert.cumsum(0)).to(expert_token_num_per_rank.scalar_type());
  if (tokens.is_meta()) {
    return {at::empty_symint(tokens.sym_sizes(), tokens.options()),
            has_scales ? at::empty_symint(per_token_scales->sym_sizes(), scale_options)
                       : at::empty_symint({count}, scale_options),
            at::empty_symint({count}, tokens.options().dtype(at::kInt)), listed};
  }
  const int64_t ranks = expert_token_num_per_rank.size(0), experts = expert_token_num_per_rank.size(1);
  const std::vector<int64_t> counts =
      numbers_of(kName, "expert_token_num_per_rank", expert_token_num_per_rank.reshape({-1}));
  std::vector<int64_t> begins(counts.size()), places;
  int64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    TORCH_CHECK(counts[i] >= 0, "npu::", kName, ": expert_token_num_per_rank has ", counts[i]);
    begins[i] = total;
    total += counts[i];
  }
  TORCH_CHECK(total == tokens.size(0), "npu::", kName, ": expert_token_num_per_rank has a sum of ", total, " for ",
              tokens.size(0), " tokens");
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t r = 0; r < ranks; ++r) {
      const auto i = static_cast<std::size_t>(r * experts + e);
      for (int64_t k = 0; k < counts[i]; ++k) places.push_back(begins[i] + k);
    }
  }
  const Tensor from = at::tensor(places, at::TensorOptions().dtype(at::kLong)).to(tokens.device());
  const Tensor index = idx_type == 0 ? from : at::argsort(from, /*stable=*/true, 0, false);
  return {tokens.index_select(0, from),
          has_scales ? per_token_scales->index_select(0, from) : at::zeros({tokens.size(0)}, scale_options),
          index.to(at::kInt), listed};
}

}  // namespace torch_npu::custom
