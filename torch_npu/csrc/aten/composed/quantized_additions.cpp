// Products of scaled values that are added to a tensor, products of int8 weights with values that are quantized on the
// way, and a convolution of int8.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/exact_products.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/composed/scaled_products.h"
#include "aten/composed/sequences.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Number = std::optional<int64_t>;

bool has_optional(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// Ends of groups from ends or counts.
std::vector<Span> spans_of_groups(const char* name, const Tensor& group_list, int64_t type, int64_t rows) {
  TORCH_CHECK(type == 0 || type == 1, "npu::", name, ": group_list_type is ", type, ": 0 and 1 are taken");
  std::vector<Span> found;
  int64_t begin = 0;
  for (const int64_t number : numbers_of(name, "group_list", group_list)) {
    const int64_t end = type == 0 ? number : begin + number;
    TORCH_CHECK(begin <= end && end <= rows, "npu::", name, ": group_list has ", number, " behind ", begin, " for ",
                rows, " rows: numbers that do not fall below 0 are taken");
    found.push_back({begin, end - begin});
    begin = end;
  }
  return found;
}

// input + sums of products of groups of K.
struct GroupedSum {
  const char* name;
  const Tensor &input, &x1, &x2, &x2_scale, &group_list;
  const OptionalTensor& x1_scale;
  Number type;

  static constexpr int64_t kPerPair = 64;

  bool has_powers() const { return x2_scale.dim() == 3; }

  void check() const {
    Operands(name)
        .take("input", input, dtypes({at::kFloat}))
        .take("x1", x1, kScaledTypes)
        .take("x2", x2, x1.scalar_type() == at::kChar ? dtypes({at::kChar}) : kScaledTypes & ~dtypes({at::kChar}))
        .take("x2_scale", x2_scale, kScaleTypes)
        .take("group_list", group_list, kIndexes)
        .take("x1_scale", x1_scale, kScaleTypes);
    TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && x1.sym_size(1) == x2.sym_size(0) && group_list.dim() == 1 &&
                    input.dim() == 3 && input.sym_size(0) == group_list.sym_size(0) &&
                    input.sym_size(1) == x1.sym_size(0) && input.sym_size(2) == x2.sym_size(1),
                "npu::", name, ": input is of size ", input.sym_sizes(), ", x1 of size ", x1.sym_sizes(),
                ", x2 of size ", x2.sym_sizes(), ", group_list of size ", group_list.sym_sizes(),
                ": [groups, M, N], [M, K], [K, N] and [groups] are taken");
    const c10::SymInt groups = group_list.sym_size(0), pairs = x1.sym_size(1) / kPerPair + groups;
    const auto is = [](const Tensor& t, std::initializer_list<c10::SymInt> sizes) {
      return t.sym_sizes() == c10::SymIntArrayRef(sizes);
    };
    const bool fits = has_powers() ? has_optional(x1_scale) && is(x2_scale, {pairs, x2.sym_size(1), 2}) &&
                                         is(*x1_scale, {x1.sym_size(0), pairs, 2}) &&
                                         x2_scale.scalar_type() != at::kFloat && x1_scale->scalar_type() != at::kFloat
                                   : x2_scale.scalar_type() == at::kFloat &&
                                         (is(x2_scale, {groups}) || is(x2_scale, {groups, 1}) ||
                                          is(x2_scale, {groups, x2.sym_size(1)})) &&
                                         (!has_optional(x1_scale) ||
                                          (x1_scale->scalar_type() == at::kFloat && x1_scale->sym_numel() == groups));
    TORCH_CHECK(fits, "npu::", name, ": x2_scale is of size ", x2_scale.sym_sizes(), " and ", x2_scale.scalar_type(),
                ", x1_scale ", has_optional(x1_scale) ? "given" : "None", " for ", groups,
                " groups of K = ", x1.sym_size(1),
                ": float32 [groups] or [groups, N] and [groups], or bytes [K / 64 + groups, N, 2] and ",
                "[M, K / 64 + groups, 2] are taken");
  }

  // The sum of each group in float32.
  std::vector<Tensor> sums() const {
    std::vector<Tensor> found;
    int64_t group = 0;
    for (const Span& span : spans_of_groups(name, group_list, type.value_or(0), x1.size(1))) {
      const Tensor a = x1.slice(1, span.begin, span.end()), b = x2.slice(0, span.begin, span.end());
      OptionalTensor own, other;
      if (has_powers()) {
        const int64_t first = span.begin / kPerPair + group, count = (span.count + kPerPair - 1) / kPerPair;
        own = x1_scale->slice(1, first, first + count);
        other = x2_scale.slice(0, first, first + count);
      } else {
        if (has_optional(x1_scale)) own = x1_scale->reshape({-1}).slice(0, group, group + 1);
        other = x2_scale.select(0, group).reshape({-1});
      }
      const Tensor plain =
          span.count > 0 ? scaled_product(a, b, own, other) : at::zeros({x1.size(0), x2.size(1)}, input.options());
      found.push_back(plain);
      ++group;
    }
    return found;
  }
};

// Rows of x in int8 with their scales, or with one scale that is given.
ScaledRows quantized_rows(const char* name, const Tensor& x, const OptionalTensor& x_scale,
                          const OptionalTensor& x_offset, const OptionalTensor& smooth_scale,
                          std::string_view quant_mode) {
  TORCH_CHECK(quant_mode == "pertoken" || quant_mode == "pertensor", "npu::", name, ": quant_mode is '", quant_mode,
              "': 'pertoken' and 'pertensor' are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!has_optional(x_offset), "npu::", name, ": x_offset is given: None is taken");
  TORCH_CHECK(!has_optional(smooth_scale) || smooth_scale->sym_numel() == x.sym_size(1), "npu::", name,
              ": smooth_scale is not of size [", x.sym_size(1), "]");
  Tensor values = x.to(at::kFloat);
  if (has_optional(smooth_scale)) values = values * smooth_scale->to(at::kFloat).reshape({1, -1});
  if (!has_optional(x_scale)) {
    if (quant_mode == "pertoken") return rows_to_int8(values);
    const ScaledRows whole = rows_to_int8(values.reshape({1, -1}));
    return {whole.values.reshape_symint(x.sym_sizes()), whole.scales};
  }
  const c10::SymInt count = quant_mode == "pertoken" ? x.sym_size(0) : c10::SymInt(1);
  TORCH_CHECK(x_scale->sym_numel() == count, "npu::", name, ": x_scale is of size ", x_scale->sym_sizes(),
              " with quant_mode '", quant_mode, "' for x of size ", x.sym_sizes());
  return {rounded_to_int8(values / x_scale->reshape({-1, 1})), x_scale->reshape({-1})};
}

void take_dequant(const char* name, const Tensor& x, const Tensor& weight, const Tensor& weight_scale,
                  const OptionalTensor& bias, const OptionalTensor& x_scale, const OptionalTensor& x_offset,
                  const OptionalTensor& smooth_scale) {
  const auto half = dtypes({at::kHalf});
  Operands(name)
      .take("x", x, half)
      .take("quantized_weight", weight, dtypes({at::kChar}))
      .take("weight_scale", weight_scale, dtypes({at::kFloat}))
      .take("bias", bias, dtypes({at::kInt}))
      .take("x_scale", x_scale, dtypes({at::kFloat}))
      .take("x_offset", x_offset, dtypes({at::kFloat}))
      .take("smooth_scale", smooth_scale, half);
}

}  // namespace

Tensor npu_add_quant_matmul(const Tensor& self, const Tensor& x1, const Tensor& x2, const Tensor& x2_scale,
                            const OptionalTensor& x1_scale, at::OptionalIntArrayRef group_sizes, Number x1_dtype,
                            Number x2_dtype, Number x1_scale_dtype, Number x2_scale_dtype) {
  constexpr const char* kName = "npu_add_quant_matmul";
  check_scaled_types(kName, group_sizes,
                     {{"x1_dtype", x1_dtype},
                      {"x2_dtype", x2_dtype},
                      {"x1_scale_dtype", x1_scale_dtype},
                      {"x2_scale_dtype", x2_scale_dtype}});
  Operands(kName).take("input", self, dtypes({at::kFloat})).take("x1", x1, kScaledTypes);
  check_scaled_product(kName, "x1", x1, x2, x1_scale, x2_scale);
  TORCH_CHECK(self.dim() == 2 && self.sym_size(0) == x1.sym_size(0) && self.sym_size(1) == x2.sym_size(1),
              "npu::", kName, ": input is of size ", self.sym_sizes(), " for a product [", x1.sym_size(0), ", ",
              x2.sym_size(1), "]");
  if (self.is_meta()) return at::empty_symint(self.sym_sizes(), self.options());
  return self + scaled_product(x1, x2, x1_scale, x2_scale);
}

Tensor& npu_add_quant_matmul_(Tensor& self, const Tensor& x1, const Tensor& x2, const Tensor& x2_scale,
                              const OptionalTensor& x1_scale, at::OptionalIntArrayRef group_sizes, Number x1_dtype,
                              Number x2_dtype, Number x1_scale_dtype, Number x2_scale_dtype) {
  return self.copy_(npu_add_quant_matmul(self, x1, x2, x2_scale, x1_scale, group_sizes, x1_dtype, x2_dtype,
                                         x1_scale_dtype, x2_scale_dtype));
}

Tensor npu_add_quant_gmm(const Tensor& self, const Tensor& x1, const Tensor& x2, const Tensor& x2_scale,
                         const Tensor& group_list, const OptionalTensor& x1_scale, Number group_list_type,
                         at::OptionalIntArrayRef group_sizes, Number x1_dtype, Number x2_dtype, Number x1_scale_dtype,
                         Number x2_scale_dtype) {
  const GroupedSum sum{"npu_add_quant_gmm", self, x1, x2, x2_scale, group_list, x1_scale, group_list_type};
  check_scaled_types(sum.name, group_sizes,
                     {{"x1_dtype", x1_dtype},
                      {"x2_dtype", x2_dtype},
                      {"x1_scale_dtype", x1_scale_dtype},
                      {"x2_scale_dtype", x2_scale_dtype}});
  sum.check();
  if (self.is_meta() || self.numel() == 0) return at::empty_symint(self.sym_sizes(), self.options());
  return self + at::stack(sum.sums());
}

Tensor& npu_add_quant_gmm_(Tensor& self, const Tensor& x1, const Tensor& x2, const Tensor& x2_scale,
                           const Tensor& group_list, const OptionalTensor& x1_scale, Number group_list_type,
                           at::OptionalIntArrayRef group_sizes, Number x1_dtype, Number x2_dtype, Number x1_scale_dtype,
                           Number x2_scale_dtype) {
  return self.copy_(npu_add_quant_gmm(self, x1, x2, x2_scale, group_list, x1_scale, group_list_type, group_sizes,
                                      x1_dtype, x2_dtype, x1_scale_dtype, x2_scale_dtype));
}

Tensor npu_quant_matmul_dequant(const Tensor& x, const Tensor& quantized_weight, const Tensor& weight_scale,
                                const OptionalTensor& bias, const OptionalTensor& x_scale,
                                const OptionalTensor& x_offset, const OptionalTensor& smooth_scale,
                                std::optional<std::string_view> quant_mode) {
  constexpr const char* kName = "npu_quant_matmul_dequant";
  take_dequant(kName, x, quantized_weight, weight_scale, bias, x_scale, x_offset, smooth_scale);
  TORCH_CHECK(x.dim() == 2 && quantized_weight.dim() == 2 && x.sym_size(1) == quantized_weight.sym_size(1) &&
                  weight_scale.dim() == 1 && weight_scale.sym_size(0) == quantized_weight.sym_size(0) &&
                  (!has_optional(bias) || bias->sym_numel() == weight_scale.sym_size(0)),
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", quantized_weight of size ",
              quantized_weight.sym_sizes(), ", weight_scale of size ", weight_scale.sym_sizes(),
              ": [M, K], [N, K] and [N] are taken, and a bias of [N]");
  const ScaledRows rows = quantized_rows(kName, x, x_scale, x_offset, smooth_scale, quant_mode.value_or("pertoken"));
  Tensor y = exact_product(rows.values, quantized_weight.t());
  if (has_optional(bias)) y = y + bias->to(at::kFloat);
  return (y * weight_scale * rows.scales.reshape({-1, 1})).to(x.scalar_type());
}

Tensor npu_quant_grouped_matmul_dequant(const Tensor& x, const Tensor& quantized_weight, const Tensor& weight_scale,
                                        const Tensor& group_list, const OptionalTensor& bias,
                                        const OptionalTensor& x_scale, const OptionalTensor& x_offset,
                                        const OptionalTensor& smooth_scale,
                                        std::optional<std::string_view> quant_mode) {
  constexpr const char* kName = "npu_quant_grouped_matmul_dequant";
  take_dequant(kName, x, quantized_weight, weight_scale, bias, x_scale, x_offset, smooth_scale);
  Operands(kName).take("x", x).take("group_list", group_list, kIndexes);
  TORCH_CHECK(x.dim() == 2 && quantized_weight.dim() == 3 && x.sym_size(1) == quantized_weight.sym_size(2) &&
                  weight_scale.dim() == 2 && weight_scale.sym_size(0) == quantized_weight.sym_size(0) &&
                  weight_scale.sym_size(1) == quantized_weight.sym_size(1) && group_list.dim() == 1 &&
                  group_list.sym_size(0) == quantized_weight.sym_size(0),
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", quantized_weight of size ",
              quantized_weight.sym_sizes(), ", weight_scale of size ", weight_scale.sym_sizes(),
              ", group_list of size ", group_list.sym_sizes(), ": [M, K], [G, N, K], [G, N] and [G] are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!has_optional(bias), "npu::", kName, ": bias is given: None is taken");
  const auto options = x.options();
  const ScaledRows rows = quantized_rows(kName, x, x_scale, x_offset, smooth_scale, quant_mode.value_or("pertoken"));
  if (x.is_meta()) return at::empty_symint({x.sym_size(0), weight_scale.sym_size(1)}, options);
  const Tensor scales = rows.scales.reshape({-1, 1}).expand({x.size(0), 1});
  const Tensor y = at::zeros({x.size(0), weight_scale.size(1)}, options);
  int64_t group = 0;
  for (const Span& span : spans_of_groups(kName, group_list, 0, x.size(0))) {
    const auto part = [&](const Tensor& t) { return t.slice(0, span.begin, span.end()); };
    const Tensor own = exact_product(part(rows.values), quantized_weight.select(0, group).t());
    part(y).copy_(own * weight_scale.select(0, group) * part(scales));
    ++group;
  }
  return y;
}

Tensor npu_quant_conv2d(const Tensor& self, const Tensor& weight, const Tensor& scale, at::IntArrayRef strides,
                        at::IntArrayRef pads, at::IntArrayRef dilations, int64_t groups, int64_t offset_x,
                        std::string_view round_mode, Number output_dtype, const OptionalTensor& bias,
                        const OptionalTensor& offset, Number input_dtype, Number weight_dtype) {
  constexpr const char* kName = "npu_quant_conv2d";
  constexpr int64_t kExact = (int64_t{1} << 24) / (128 * 128);  // products of int8 whose sum float32 holds
  Operands(kName)
      .take("input", self, dtypes({at::kChar, at::kFloat8_e4m3fn}))
      .take("weight", weight, aclnn_check::dtype_bit(self.scalar_type()))
      .take("scale", scale, dtypes({at::kFloat, at::kLong}))
      .take("bias", bias, self.scalar_type() == at::kChar ? dtypes({at::kInt}) : dtypes({at::kFloat}));
  const at::ScalarType type = output_dtype.has_value() ? dtype_of_number("output_dtype", *output_dtype) : at::kHalf;
  TORCH_CHECK_NOT_IMPLEMENTED((type == at::kHalf || type == at::kBFloat16 || type == at::kFloat) && offset_x == 0 &&
                                  round_mode == "rint" && !has_optional(offset) && !input_dtype.has_value() &&
                                  !weight_dtype.has_value(),
                              "npu::", kName, ": output_dtype is ", type, ", offset_x ", offset_x, ", round_mode '",
                              round_mode, "', or offset, input_dtype or weight_dtype is given: float16, bfloat16 and ",
                              "float32, 0, 'rint' and None are taken");
  TORCH_CHECK(self.dim() == 4 && weight.dim() == 4 && groups > 0 && self.sym_size(1) == weight.sym_size(1) * groups &&
                  weight.sym_size(0) % groups == 0 && scale.sym_numel() == weight.sym_size(0) &&
                  (!has_optional(bias) || bias->sym_numel() == weight.sym_size(0)),
              "npu::", kName, ": input is of size ", self.sym_sizes(), ", weight of size ", weight.sym_sizes(),
              ", scale of size ", scale.sym_sizes(), ", groups ", groups,
              ": [N, Cin, H, W], [Cout, Cin / groups, h, w] and [Cout] are taken, and a bias of [Cout]");
  const c10::SymInt terms = weight.sym_numel() / weight.sym_size(0);
  const auto computed = self.scalar_type() == at::kChar && terms > kExact ? at::kDouble : at::kFloat;
  Tensor y = at::conv2d(self.to(computed), weight.to(computed), {}, strides, pads, dilations, groups);
  if (has_optional(bias)) y = y + bias->to(computed).reshape({1, -1, 1, 1});
  return (y.to(at::kFloat) * factors_of(scale).reshape({1, -1, 1, 1})).to(type);
}

}  // namespace torch_npu::custom
