// Norms, gates and copies whose results are int8 with scales.

#include "aten/composed/quantized.h"

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor rounded_to_int8(const Tensor& values) {
  constexpr int64_t kLeast = -128, kMax = 127;
  return values.round().clamp(kLeast, kMax).to(at::kChar);
}

ScaledRows rows_to_int8(const Tensor& values) {
  constexpr double kMax = 127;
  const Tensor scales = values.abs().amax({-1}, true) / kMax;
  // A row of zeros has the scale 1.
  const Tensor divisors = at::where(scales > 0, scales, 1);
  return {rounded_to_int8(values / divisors), divisors.squeeze(-1)};
}

void check_is_int8(const char* name, const char* role, std::optional<int64_t> number) {
  TORCH_CHECK_NOT_IMPLEMENTED(!number.has_value() || dtype_of_number(role, *number) == at::kChar, name, ": ", role,
                              " is ", *number, ": None or int8 is taken");
}

namespace {

constexpr aclnn_check::Dtypes kNormed = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kOffsets = kNormed | dtypes({at::kInt, at::kChar});

bool has(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// x / rms(x) gamma + beta in float32, over the last dimensions, which gamma has.
Tensor rms_normed(const char* name, const Tensor& x, const Tensor& gamma, const OptionalTensor& beta, double epsilon) {
  const int64_t first = x.dim() - gamma.dim();
  TORCH_CHECK(
      gamma.dim() > 0 && first >= 0 && x.sym_sizes().slice(static_cast<std::size_t>(first)) == gamma.sym_sizes(), name,
      ": gamma is of size ", gamma.sym_sizes(), ", which the last dimensions of a tensor of size ", x.sym_sizes(),
      " are not");
  std::vector<int64_t> over;
  for (int64_t i = first; i < x.dim(); ++i) over.push_back(i);
  const Tensor rstd = (x.square().mean(over, true) + epsilon).rsqrt();
  const Tensor y = x * rstd * gamma.to(at::kFloat);
  return has(beta) ? y + beta->to(at::kFloat) : y;
}

Tensor statically(const Tensor& y, const Tensor& scale, const OptionalTensor& offset, bool divides) {
  const Tensor scaled = divides ? y / scale.to(at::kFloat) : y * scale.to(at::kFloat);
  return rounded_to_int8(has(offset) ? scaled + offset->to(at::kFloat) : scaled);
}

// x / rms(x) gamma + beta in int8, divided or multiplied by `scale`.
Tensor rms_norm_to_int8(const char* name, const Tensor& x, const Tensor& gamma, const OptionalTensor& beta,
                        const Tensor& scale, const OptionalTensor& offset, double epsilon, bool divides,
                        std::optional<int64_t> dst_dtype) {
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  Operands(name)
      .take("x", x, kNormed)
      .take("gamma", gamma, same)
      .take("beta", beta, same)
      .take("scale", scale, kNormed)
      .take("offset", offset, kOffsets);
  check_is_int8(name, "dst_dtype", dst_dtype);
  return statically(rms_normed(name, x.to(at::kFloat), gamma, beta, epsilon), scale, offset, divides);
}

// The number of each row's group, [rows]; rows behind the last group have the number of groups. `ends` are cumulative.
Tensor groups_of_rows(const Tensor& ends, const c10::SymInt& rows) {
  return at::searchsorted(ends, at::arange(rows, ends.options()), /*out_int32=*/false, /*right=*/true);
}

// A row of `table` [G, N] for each number, `rest` for the number G.
Tensor rows_of(const Tensor& table, const Tensor& numbers, double rest) {
  const Tensor last = at::full_symint({1, table.sym_size(1)}, rest, table.options().dtype(at::kFloat));
  return at::cat({table.to(at::kFloat), last}).index_select(0, numbers);
}

// Both halves of the last dimension in float32.
std::pair<Tensor, Tensor> halves(const Tensor& x) {
  const c10::SymInt half = x.sym_size(-1) / 2;
  return {x.narrow_symint(-1, 0, half), x.narrow_symint(-1, half, half)};
}

void check_halves(const char* name, const Tensor& x) {
  TORCH_CHECK(x.dim() > 1 && x.sym_size(-1) % 2 == 0, name, ": x is of size ", x.sym_sizes(),
              ": two dimensions or more are taken, an even last one");
}

// [rows, N] for any number of leading dimensions.
Tensor as_rows(const Tensor& x) { return x.reshape_symint({-1, x.sym_size(-1)}); }

}  // namespace

std::tuple<Tensor, Tensor> npu_rms_norm_quant_v2(const Tensor& x, const Tensor& gamma, const Tensor& scale,
                                                 const OptionalTensor& offset, const OptionalTensor& beta,
                                                 double epsilon, bool div_mode, std::optional<int64_t> dst_dtype) {
  return {rms_norm_to_int8("npu_rms_norm_quant_v2", x, gamma, beta, scale, offset, epsilon, div_mode, dst_dtype),
          at::empty({0}, x.options().dtype(at::kFloat))};
}

std::tuple<Tensor, Tensor> npu_swiglu_quant(const Tensor& x, const OptionalTensor& smooth_scales,
                                            const OptionalTensor& offsets, const OptionalTensor& group_index,
                                            bool activate_left, int64_t quant_mode, int64_t group_list_type,
                                            std::optional<at::ScalarType> dst_type) {
  constexpr const char* kName = "npu_swiglu_quant";
  constexpr double kMax = 127;
  Operands(kName)
      .take("x", x, kNormed)
      .take("smooth_scales", smooth_scales, kNormed)
      .take("offsets", offsets, kNormed)
      .take("group_index", group_index, kIndexes);
  check_halves(kName, x);
  TORCH_CHECK_NOT_IMPLEMENTED(dst_type.value_or(at::kChar) == at::kChar, kName, ": dst_type is ", *dst_type,
                              ": None or int8 is taken");
  TORCH_CHECK((quant_mode == 0 || quant_mode == 1) && (group_list_type == 0 || group_list_type == 1), kName,
              ": quant_mode is ", quant_mode, ", group_list_type ", group_list_type, ": 0 and 1 are taken");
  TORCH_CHECK(quant_mode == 1 || has(smooth_scales), kName, ": quant_mode is 0: smooth_scales is taken with it");
  const auto [a, b] = halves(as_rows(x).to(at::kFloat));
  Tensor y = activate_left ? at::silu(a) * b : a * at::silu(b);
  if (has(group_index)) {
    TORCH_CHECK(has(smooth_scales) && smooth_scales->dim() >= 1 && group_index->dim() == 1 &&
                    smooth_scales->sym_size(0) == group_index->sym_size(0),
                kName, ": group_index is given: smooth_scales has one row for each group");
    const Tensor ends = group_list_type == 0 ? *group_index : at::cumsum(*group_index, 0, group_index->scalar_type());
    const Tensor groups = groups_of_rows(ends.contiguous(), y.sym_size(0));
    const auto table = [&](const Tensor& given) {
      return given.dim() == 1 ? given.unsqueeze(1).expand_symint({given.sym_size(0), y.sym_size(1)}) : given;
    };
    y = y * rows_of(table(*smooth_scales), groups, 1);
    if (quant_mode == 0 && has(offsets)) y = y + rows_of(table(*offsets), groups, 0);
  } else if (has(smooth_scales)) {
    y = y * smooth_scales->to(at::kFloat);
    if (quant_mode == 0 && has(offsets)) y = y + offsets->to(at::kFloat);
  }
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes.back() = sizes.back() / 2;
  const c10::SymIntArrayRef rows = x.sym_sizes().slice(0, static_cast<std::size_t>(x.dim() - 1));
  if (quant_mode == 0) {
    return {rounded_to_int8(y).reshape_symint(sizes), at::zeros_symint(rows, x.options().dtype(at::kFloat))};
  }
  const Tensor most = y.abs().amax({-1}, true);
  const Tensor factors = kMax / at::where(most > 0, most, kMax);
  return {rounded_to_int8(y * factors).reshape_symint(sizes), factors.reshape_symint(rows)};
}

std::tuple<Tensor, Tensor> npu_dequant_swiglu_quant(
    const Tensor& x, const OptionalTensor& weight_scale, const OptionalTensor& activation_scale,
    const OptionalTensor& bias, const OptionalTensor& quant_scale, const OptionalTensor& quant_offset,
    const OptionalTensor& group_index, bool activate_left, int64_t quant_mode, std::optional<int64_t> dst_type,
    std::optional<int64_t> round_mode, std::optional<int64_t> activate_dim, int64_t swiglu_mode, double clamp_limit,
    double glu_alpha, double glu_bias) {
  constexpr const char* kName = "npu_dequant_swiglu_quant";
  Operands(kName)
      .take("x", x, kNormed | dtypes({at::kInt}))
      .take("weight_scale", weight_scale, kNormed)
      .take("activation_scale", activation_scale, kNormed)
      .take("bias", bias, kNormed | dtypes({at::kInt}))
      .take("quant_scale", quant_scale, kNormed)
      .take("quant_offset", quant_offset, kNormed)
      .take("group_index", group_index, kIndexes);
  check_halves(kName, x);
  check_is_int8(kName, "dst_type", dst_type);
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode.value_or(0) == 0, kName, ": round_mode is ", *round_mode, ": 0 is taken");
  TORCH_CHECK_NOT_IMPLEMENTED(at::maybe_wrap_dim(activate_dim.value_or(-1), x.dim()) == x.dim() - 1, kName,
                              ": activate_dim is ", *activate_dim, ": the last one is taken");
  TORCH_CHECK(quant_mode == 0 || quant_mode == 1, kName, ": quant_mode is ", quant_mode, ": 0 and 1 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(swiglu_mode == 0 || swiglu_mode == 1, kName, ": swiglu_mode is ", swiglu_mode,
                              ": 0 and 1 are taken");
  const bool is_int = x.scalar_type() == at::kInt;
  TORCH_CHECK(is_int == has(weight_scale), kName, ": weight_scale is ", has(weight_scale) ? "given" : "None",
              " for x of ", x.scalar_type(), ": int32 values have one, others have none");
  Tensor values = as_rows(x);
  // Rows of a table for each row of values: of its group, or the only one.
  const Tensor groups =
      has(group_index) ? groups_of_rows(at::cumsum(*group_index, 0, group_index->scalar_type()), values.sym_size(0))
                       : Tensor();
  const auto spread = [&](const Tensor& given, const c10::SymInt& columns, double rest) {
    if (groups.defined() && given.dim() == 2) return rows_of(given, groups, rest);
    if (groups.defined() && given.sym_size(0) == group_index->sym_size(0) && given.sym_size(0) != columns) {
      return rows_of(given.unsqueeze(1).expand_symint({given.sym_size(0), columns}), groups, rest);
    }
    return given.to(at::kFloat);
  };
  const c10::SymInt widened = values.sym_size(1), half = values.sym_size(1) / 2;
  if (is_int) {
    const bool is_int_bias = has(bias) && bias->scalar_type() == at::kInt;
    // Sums of int32 are exact in float64.
    Tensor sums = values.to(is_int_bias ? at::kDouble : at::kFloat);
    if (is_int_bias) sums = (sums + spread(*bias, widened, 0).to(at::kDouble)).to(at::kFloat);
    values = sums * spread(*weight_scale, widened, 1);
    if (has(activation_scale)) values = values * activation_scale->to(at::kFloat).reshape({-1, 1});
    if (has(bias) && !is_int_bias) values = values + spread(*bias, widened, 0);
  }
  values = values.to(at::kFloat);
  Tensor y;
  if (swiglu_mode == 1) {
    const Tensor gate = values.slice(1, 0, std::nullopt, 2).clamp_max(clamp_limit);
    const Tensor other = values.slice(1, 1, std::nullopt, 2).clamp(-clamp_limit, clamp_limit);
    y = gate * at::sigmoid(gate * glu_alpha) * (other + glu_bias);
  } else {
    const auto [a, b] = halves(values);
    y = activate_left ? at::silu(a) * b : a * at::silu(b);
  }
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes.back() = half;
  const c10::SymIntArrayRef rows = x.sym_sizes().slice(0, static_cast<std::size_t>(x.dim() - 1));
  Tensor result, scales;
  if (quant_mode == 0) {
    if (has(quant_scale)) y = y / spread(*quant_scale, half, 1);
    if (has(quant_offset)) y = y + spread(*quant_offset, half, 0);
    result = rounded_to_int8(y);
    scales = at::zeros_symint(rows, x.options().dtype(at::kFloat));
  } else {
    if (has(quant_scale)) y = y * spread(*quant_scale, half, 1);
    const ScaledRows scaled = rows_to_int8(y);
    result = scaled.values;
    scales = scaled.scales;
  }
  if (groups.defined()) {  // rows behind the last group are zeros
    const Tensor is_in_group = groups < group_index->sym_size(0).guard_int(__FILE__, __LINE__);
    result = result * is_in_group.unsqueeze(1).to(at::kChar);
    scales = scales.reshape({-1}) * is_in_group.to(at::kFloat);
  }
  return {result.reshape_symint(sizes), scales.reshape_symint(rows)};
}

std::tuple<Tensor, Tensor> npu_gelu_quant(const Tensor& self, const OptionalTensor& input_scale,
                                          const OptionalTensor& input_offset, std::string_view approximate,
                                          std::string_view quant_mode, std::optional<int64_t> dst_type,
                                          std::string_view round_mode) {
  constexpr const char* kName = "npu_gelu_quant";
  Operands(kName)
      .take("input", self, kNormed)
      .take("input_scale", input_scale, kNormed)
      .take("input_offset", input_offset, kNormed);
  check_is_int8(kName, "dst_type", dst_type);
  TORCH_CHECK(approximate == "none" || approximate == "tanh", kName, ": approximate is '", approximate,
              "': 'none' and 'tanh' are taken");
  TORCH_CHECK(quant_mode == "static" || quant_mode == "dynamic", kName, ": quant_mode is '", quant_mode,
              "': 'static' and 'dynamic' are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode == "rint", kName, ": round_mode is '", round_mode, "': 'rint' is taken");
  const bool is_static = quant_mode == "static";
  TORCH_CHECK(self.dim() > 0 && (!is_static || has(input_scale)), kName,
              ": input has no dimension, or input_scale is None with quant_mode 'static'");
  const Tensor y = at::gelu(self.to(at::kFloat), approximate);
  if (is_static) {
    return {statically(y, *input_scale, input_offset, false), at::empty({0}, self.options().dtype(at::kFloat))};
  }
  const ScaledRows scaled = rows_to_int8(has(input_scale) ? y * input_scale->to(at::kFloat) : y);
  return {scaled.values, scaled.scales};
}

std::tuple<Tensor, Tensor> npu_dynamic_block_quant(const Tensor& x, double min_scale, std::string_view round_mode,
                                                   int64_t dst_type, int64_t row_block_size, int64_t col_block_size,
                                                   double dst_type_max) {
  constexpr const char* kName = "npu_dynamic_block_quant";
  constexpr double kMax = 127;
  Operands(kName).take("x", x, kNormed);
  check_is_int8(kName, "dst_type", dst_type);
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode == "rint" && dst_type_max == 0, kName, ": round_mode is '", round_mode,
                              "', dst_type_max ", dst_type_max, ": 'rint' and 0 are taken");
  TORCH_CHECK((x.dim() == 2 || x.dim() == 3) && min_scale >= 0 && row_block_size > 0 && col_block_size > 0, kName,
              ": x is of size ", x.sym_sizes(), ", min_scale ", min_scale, ", blocks of ", row_block_size, " x ",
              col_block_size, ": two or three dimensions, no negative number and blocks of a positive size are taken");
  const c10::SymInt rows = x.sym_size(-2), columns = x.sym_size(-1);
  const c10::SymInt down = (rows + row_block_size - 1) / row_block_size;
  const c10::SymInt across = (columns + col_block_size - 1) / col_block_size;
  const Tensor padded = at::constant_pad_nd_symint(
      x.to(at::kFloat), {0, across * col_block_size - columns, 0, down * row_block_size - rows}, 0);
  std::vector<c10::SymInt> blocks = {-1, down, row_block_size, across, col_block_size};
  const Tensor values = padded.reshape_symint(blocks);
  const Tensor scales = (values.abs().amax({2, 4}, true) / kMax).clamp_min(min_scale);
  const Tensor scaled = rounded_to_int8(values / at::where(scales > 0, scales, 1)).reshape_symint(padded.sym_sizes());
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  sizes[sizes.size() - 2] = down;
  sizes.back() = across;
  return {scaled.narrow_symint(-2, 0, rows).narrow_symint(-1, 0, columns).contiguous(), scales.reshape_symint(sizes)};
}

Tensor npu_group_quant(const Tensor& x, const Tensor& scale, const Tensor& group_index, const OptionalTensor& offset,
                       std::optional<at::ScalarType> dst_dtype) {
  constexpr const char* kName = "npu_group_quant";
  Operands(kName)
      .take("x", x, kNormed)
      .take("scale", scale, kNormed)
      .take("group_index", group_index, kIndexes)
      .take("offset", offset, kNormed);
  TORCH_CHECK_NOT_IMPLEMENTED(dst_dtype.value_or(at::kChar) == at::kChar || dst_dtype == at::kQInt8, kName,
                              ": dst_dtype is ", *dst_dtype, ": None or int8 is taken");
  TORCH_CHECK(x.dim() == 2 && scale.dim() == 2 && scale.sym_size(1) == x.sym_size(1) && group_index.dim() == 1 &&
                  group_index.sym_size(0) == scale.sym_size(0),
              kName, ": x is of size ", x.sym_sizes(), ", scale of size ", scale.sym_sizes(), ", group_index of size ",
              group_index.sym_sizes(), ": [S, H], [E, H] and [E] are taken");
  const Tensor y = x.to(at::kFloat) * rows_of(scale, groups_of_rows(group_index.contiguous(), x.sym_size(0)), 0);
  return rounded_to_int8(has(offset) ? y + offset->to(at::kFloat) : y);
}

Tensor npu_quant_scatter(const Tensor& self, const Tensor& indices, const Tensor& updates, const Tensor& quant_scales,
                         const OptionalTensor& quant_zero_points, int64_t axis, int64_t quant_axis,
                         std::string_view reduce, std::optional<int64_t> dst_type,
                         std::optional<std::string_view> round_mode) {
  Tensor result = self.clone(at::MemoryFormat::Contiguous);
  return npu_quant_scatter_(result, indices, updates, quant_scales, quant_zero_points, axis, quant_axis, reduce,
                            dst_type, round_mode);
}

Tensor& npu_quant_scatter_(Tensor& self, const Tensor& indices, const Tensor& updates, const Tensor& quant_scales,
                           const OptionalTensor& quant_zero_points, int64_t axis, int64_t quant_axis,
                           std::string_view reduce, std::optional<int64_t> dst_type,
                           std::optional<std::string_view> round_mode) {
  constexpr const char* kName = "npu_quant_scatter";
  Operands(kName)
      .take("input", self, dtypes({at::kChar}))
      .take("indices", indices, kIndexes)
      .take("updates", updates, kNormed)
      .take("quant_scales", quant_scales, kNormed)
      .take("quant_zero_points", quant_zero_points, kOffsets);
  check_is_int8(kName, "dst_type", dst_type);
  TORCH_CHECK(reduce == "update", kName, ": reduce is '", reduce, "': 'update' is taken");
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode.value_or("rint") == "rint", kName, ": round_mode is '", *round_mode,
                              "': 'rint' is taken");
  const int64_t d = at::maybe_wrap_dim(quant_axis, updates.dim());
  const auto along = [&](const Tensor& given, const char* role) {
    TORCH_CHECK(given.sym_numel() == updates.sym_size(d), kName, ": ", role, " is of size ", given.sym_sizes(),
                " for updates of size ", updates.sym_sizes(), ": one number along dimension ", quant_axis);
    std::vector<c10::SymInt> shape(static_cast<std::size_t>(updates.dim()), 1);
    shape[static_cast<std::size_t>(d)] = updates.sym_size(d);
    return given.to(at::kFloat).reshape_symint(shape);
  };
  Tensor values = updates.to(at::kFloat) / along(quant_scales, "quant_scales");
  if (has(quant_zero_points)) values = values + along(*quant_zero_points, "quant_zero_points");
  return scatter_update_(self, indices, rounded_to_int8(values), axis);
}

// Eight values from -8 to 7 in an int32, the first one lowest.
Tensor npu_convert_weight_to_int4pack(const Tensor& weight, int64_t inner_k_tiles) {
  constexpr const char* kName = "npu_convert_weight_to_int4pack";
  constexpr int64_t kCount = 8, kBits = 4, kLow = 15;
  Operands(kName).take("weight", weight, dtypes({at::kInt, at::kFloat}));
  TORCH_CHECK_NOT_IMPLEMENTED(weight.scalar_type() == at::kInt && inner_k_tiles == 0, kName, ": weight is of ",
                              weight.scalar_type(), ", inner_k_tiles ", inner_k_tiles,
                              ": int32 and 0 are taken, float4 is not computed");
  TORCH_CHECK((weight.dim() == 2 || weight.dim() == 3) && weight.sym_size(-1) % kCount == 0, kName,
              ": weight is of size ", weight.sym_sizes(),
              ": two or three dimensions are taken, the last one a multiple of 8");
  std::vector<c10::SymInt> eights = weight.sym_sizes().vec();
  eights.back() = eights.back() / kCount;
  eights.push_back(kCount);
  const Tensor places = at::arange(kCount, weight.options()) * kBits;
  const Tensor bits = at::bitwise_left_shift(at::bitwise_and(weight, kLow).reshape_symint(eights), places);
  return bits.sum(-1, false, at::kInt);
}

}  // namespace torch_npu::custom
