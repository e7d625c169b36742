// Products of int8 and float8 with what stands behind them, and products whose results are quantized.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "aten/composed/exact_products.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kMultiplied = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kFloat8 = dtypes({at::kFloat8_e4m3fn, at::kFloat8_e5m2});

bool was_given(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// x / rms(x) gamma + beta over the last dimension, and 1 / rms(x).
std::pair<Tensor, Tensor> rms_norm_of(const char* name, const Tensor& x, const Tensor& gamma,
                                      const OptionalTensor& beta, double epsilon) {
  TORCH_CHECK(x.dim() > 0 && gamma.dim() == 1 && gamma.sym_size(0) == x.sym_size(-1), "npu::", name,
              ": gamma is of size ", gamma.sym_sizes(), " for a tensor of size ", x.sym_sizes(),
              ": one number for each of the last dimension is taken");
  const Tensor widened = x.to(at::kFloat);
  const Tensor rstd = (widened.square().mean({-1}, true) + epsilon).rsqrt();
  const Tensor y = widened * rstd * gamma.to(at::kFloat);
  return {(was_given(beta) ? y + beta->to(at::kFloat) : y).to(x.scalar_type()), rstd};
}

}  // namespace

Tensor npu_quant_matmul_gelu(const Tensor& x1, const Tensor& x2, const Tensor& x1_scale, const Tensor& x2_scale,
                             const OptionalTensor& bias, std::optional<std::string_view> approximate) {
  constexpr const char* kName = "npu_quant_matmul_gelu";
  Operands(kName)
      .take("x1", x1, dtypes({at::kChar}))
      .take("x2", x2, dtypes({at::kChar}))
      .take("x1_scale", x1_scale, dtypes({at::kFloat}))
      .take("x2_scale", x2_scale, dtypes({at::kFloat, at::kBFloat16}))
      .take("bias", bias, kMultiplied | dtypes({at::kInt}));
  const std::string_view kind = approximate.value_or("gelu_erf");
  TORCH_CHECK(kind == "gelu_erf" || kind == "gelu_tanh", "npu::", kName, ": approximate is '", kind,
              "': 'gelu_erf' and 'gelu_tanh' are taken");
  TORCH_CHECK(x1.dim() >= 2 && x2.dim() >= 2 && x1.sym_size(-1) == x2.sym_size(-2) &&
                  x1_scale.sym_numel() == x1.sym_size(-2) &&
                  (x2_scale.sym_numel() == 1 || x2_scale.sym_numel() == x2.sym_size(-1)),
              "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(),
              ", x1_scale of size ", x1_scale.sym_sizes(), ", x2_scale of size ", x2_scale.sym_sizes(),
              ": [*, M, K], [*, K, N], [M], and [N] or [1] are taken");
  const bool is_int_bias = was_given(bias) && bias->scalar_type() == at::kInt;
  const bool is_bfloat16 =
      x2_scale.scalar_type() == at::kBFloat16 || (was_given(bias) && bias->scalar_type() == at::kBFloat16);
  Tensor y = exact_product(x1, x2);
  if (is_int_bias) y = y + bias->to(at::kFloat);
  y = y * x2_scale.to(at::kFloat).reshape({-1}) * x1_scale.reshape({-1, 1});
  if (was_given(bias) && !is_int_bias) y = y + bias->to(at::kFloat);
  return at::gelu(y, kind == "gelu_erf" ? "none" : "tanh").to(is_bfloat16 ? at::kBFloat16 : at::kHalf);
}

Tensor npu_quant_matmul_reduce_sum(const Tensor& x1, const Tensor& x2, const OptionalTensor& x1_scale,
                                   const OptionalTensor& x2_scale) {
  constexpr const char* kName = "npu_quant_matmul_reduce_sum";
  Operands(kName)
      .take("x1", x1, dtypes({at::kChar}))
      .take("x2", x2, dtypes({at::kChar}))
      .take("x1_scale", x1_scale, dtypes({at::kFloat}))
      .take("x2_scale", x2_scale, dtypes({at::kBFloat16, at::kFloat}));
  TORCH_CHECK(was_given(x1_scale) && was_given(x2_scale), "npu::", kName,
              ": x1_scale or x2_scale is None: both are taken");
  TORCH_CHECK(x1.dim() == 3 && x2.dim() == 3 && x1.sym_size(0) == x2.sym_size(0) && x1.sym_size(2) == x2.sym_size(1) &&
                  x1_scale->dim() == 2 && x1_scale->sym_size(0) == x1.sym_size(0) &&
                  x1_scale->sym_size(1) == x1.sym_size(1) && x2_scale->sym_numel() == x2.sym_size(2),
              "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(),
              ", x1_scale of size ", x1_scale->sym_sizes(), ", x2_scale of size ", x2_scale->sym_sizes(),
              ": [B, M, K], [B, K, N], [B, M] and [N] are taken");
  const Tensor scaled = exact_product(x1, x2) * x1_scale->unsqueeze(2);
  return (scaled.sum(0) * x2_scale->to(at::kFloat).reshape({-1})).to(at::kBFloat16);
}

Tensor npu_transpose_quant_batchmatmul(const Tensor& x1, const Tensor& x2, int64_t dtype, const OptionalTensor& bias,
                                       const OptionalTensor& x1_scale, const OptionalTensor& x2_scale,
                                       at::OptionalIntArrayRef group_sizes, at::OptionalIntArrayRef perm_x1,
                                       at::OptionalIntArrayRef perm_x2, at::OptionalIntArrayRef perm_y,
                                       std::optional<int64_t> batch_split_factor, std::optional<int64_t> x1_dtype,
                                       std::optional<int64_t> x2_dtype) {
  constexpr const char* kName = "npu_transpose_quant_batchmatmul";
  Operands(kName)
      .take("x1", x1, kFloat8)
      .take("x2", x2, kFloat8)
      .take("bias", bias, kMultiplied)
      .take("x1_scale", x1_scale, dtypes({at::kFloat}))
      .take("x2_scale", x2_scale, dtypes({at::kFloat}));
  const at::ScalarType type = dtype_of_number("dtype", dtype);
  TORCH_CHECK_NOT_IMPLEMENTED((type == at::kHalf || type == at::kBFloat16) && !was_given(bias) &&
                                  !group_sizes.has_value() && batch_split_factor.value_or(1) == 1 &&
                                  !x1_dtype.has_value() && !x2_dtype.has_value(),
                              "npu::", kName, ": dtype is ", type,
                              ", or bias, group_sizes, x1_dtype or x2_dtype is given: float16 and bfloat16, and float8 "
                              "with a scale for each row and column are taken");
  TORCH_CHECK(was_given(x1_scale) && was_given(x2_scale), "npu::", kName,
              ": x1_scale or x2_scale is None: both are taken");
  const auto order = [&](at::OptionalIntArrayRef perm, at::IntArrayRef usual) {
    const at::IntArrayRef numbers = perm.has_value() && !perm->empty() ? *perm : usual;
    std::vector<int64_t> sorted = numbers.vec();
    std::sort(sorted.begin(), sorted.end());
    TORCH_CHECK(sorted == std::vector<int64_t>({0, 1, 2}), "npu::", kName, ": ", numbers,
                " is no order of three dimensions");
    return numbers.vec();
  };
  TORCH_CHECK(x1.dim() == 3 && x2.dim() == 3, "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ",
              x2.sym_sizes(), ": three dimensions are taken");
  const Tensor a = x1.permute(order(perm_x1, {1, 0, 2})), b = x2.permute(order(perm_x2, {0, 1, 2}));
  TORCH_CHECK(a.sym_size(0) == b.sym_size(0) && a.sym_size(2) == b.sym_size(1) &&
                  x1_scale->sym_numel() == a.sym_size(1) && x2_scale->sym_numel() == b.sym_size(2),
              "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(),
              ", x1_scale of size ", x1_scale->sym_sizes(), ", x2_scale of size ", x2_scale->sym_sizes());
  const Tensor y =
      at::bmm(a.to(at::kFloat), b.to(at::kFloat)) * x2_scale->reshape({1, 1, -1}) * x1_scale->reshape({1, -1, 1});
  return y.permute(order(perm_y, {1, 0, 2})).to(type).contiguous();
}

std::tuple<Tensor, Tensor> npu_rotate_quant(const Tensor& x, const Tensor& rotation, const OptionalTensor& alpha,
                                            std::optional<int64_t> dst_dtype, std::optional<int64_t> axis,
                                            std::optional<std::string_view> round_mode,
                                            std::optional<int64_t> scale_alg, std::optional<double> dst_type_max,
                                            std::optional<bool> transpose_y) {
  constexpr const char* kName = "npu_rotate_quant";
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  Operands(kName).take("x", x, kMultiplied).take("rotation", rotation, same).take("alpha", alpha, kMultiplied);
  check_is_int8(kName, "dst_dtype", dst_dtype);
  const int64_t dim = axis.value_or(-1);
  TORCH_CHECK_NOT_IMPLEMENTED(!was_given(alpha) && (dim == -1 || dim == x.dim() - 1) &&
                                  round_mode.value_or("rint") == "rint" && scale_alg.value_or(0) == 0 &&
                                  dst_type_max.value_or(0) == 0 && !transpose_y.value_or(false),
                              "npu::", kName, ": axis is ", dim, ", round_mode '", round_mode.value_or("rint"),
                              "', scale_alg ", scale_alg.value_or(0), ", dst_type_max ", dst_type_max.value_or(0),
                              ", or alpha or transpose_y is given: the last dimension, 'rint', 0 and 0 are taken");
  TORCH_CHECK(x.dim() >= 1 && rotation.dim() == 2 && rotation.sym_size(0) == rotation.sym_size(1) &&
                  x.sym_size(-1) % rotation.sym_size(0) == 0,
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", rotation of size ", rotation.sym_sizes(),
              ": [*, N] with N a multiple of K and [K, K] are taken");
  std::vector<c10::SymInt> blocks = x.sym_sizes().vec();
  blocks.back() = x.sym_size(-1) / rotation.sym_size(0);
  blocks.push_back(rotation.sym_size(0));
  const Tensor rotated = at::matmul(x.to(at::kFloat).reshape_symint(blocks), rotation.to(at::kFloat));
  const ScaledRows rows = rows_to_int8(rotated.reshape_symint(x.sym_sizes()));
  return {rows.values, rows.scales};
}

// Eight values of four bits in an int32, the first one lowest.
std::tuple<Tensor, Tensor> npu_kronecker_quant(const Tensor& x, const Tensor& kronecker_p1, const Tensor& kronecker_p2,
                                               std::optional<double> clip_ratio, std::optional<int64_t> dst_dtype,
                                               std::optional<double> dst_type_max) {
  constexpr const char* kName = "npu_kronecker_quant";
  constexpr double kMax = 7;
  constexpr int64_t kLeast = -8, kPacked = 8;
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  Operands(kName)
      .take("x", x, dtypes({at::kHalf, at::kBFloat16, at::kFloat}))
      .take("kronecker_p1", kronecker_p1, same)
      .take("kronecker_p2", kronecker_p2, same);
  TORCH_CHECK_NOT_IMPLEMENTED((!dst_dtype.has_value() || *dst_dtype == 3) && dst_type_max.value_or(0) == 0,
                              "npu::", kName, ": dst_dtype is ", dst_dtype.value_or(3), ", dst_type_max ",
                              dst_type_max.value_or(0), ": int32, which holds values of four bits, and 0 are taken");
  TORCH_CHECK(x.dim() == 3 && kronecker_p1.dim() == 2 && kronecker_p2.dim() == 2 &&
                  kronecker_p1.sym_size(0) == x.sym_size(1) && kronecker_p1.sym_size(1) == x.sym_size(1) &&
                  kronecker_p2.sym_size(0) == x.sym_size(2) && kronecker_p2.sym_size(1) == x.sym_size(2) &&
                  x.sym_size(2) % kPacked == 0,
              "npu::", kName, ": x is of size ", x.sym_sizes(), ", kronecker_p1 of size ", kronecker_p1.sym_sizes(),
              ", kronecker_p2 of size ", kronecker_p2.sym_sizes(),
              ": [K, M, N] with N a multiple of 8, [M, M] and [N, N] are taken");
  const double most = kMax * clip_ratio.value_or(1);
  const Tensor y = at::matmul(kronecker_p1.to(at::kFloat), at::matmul(x.to(at::kFloat), kronecker_p2.to(at::kFloat)));
  const Tensor largest = y.abs().amax({1, 2}, true);
  const Tensor scales = at::where(largest > 0, largest / most, 1);
  const Tensor values = (y / scales).round().clamp(static_cast<double>(kLeast), kMax).to(at::kInt);
  return {npu_convert_weight_to_int4pack(values, 0), scales.reshape({-1})};
}

std::tuple<Tensor, Tensor, Tensor> npu_rms_norm_dynamic_mx_quant(const Tensor& x, const Tensor& gamma,
                                                                 const OptionalTensor& beta, double epsilon,
                                                                 int64_t scale_alg, std::string_view round_mode,
                                                                 int64_t dst_type) {
  constexpr const char* kName = "npu_rms_norm_dynamic_mx_quant";
  Operands(kName).take("x", x, kMultiplied).take("gamma", gamma, kMultiplied).take("beta", beta, kMultiplied);
  const auto [y, rstd] = rms_norm_of(kName, x, gamma, beta, epsilon);
  constexpr int64_t kBlock = 32;
  const auto [values, scales] = npu_dynamic_mx_quant(y, -1, round_mode, dst_type, kBlock, scale_alg, 0, 0);
  return {values, scales, rstd};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> npu_add_rms_norm_dynamic_mx_quant(
    const Tensor& x1, const Tensor& x2, const Tensor& gamma, const OptionalTensor& beta, double epsilon,
    int64_t scale_alg, std::string_view round_mode, int64_t dst_type) {
  constexpr const char* kName = "npu_add_rms_norm_dynamic_mx_quant";
  Operands(kName)
      .take("x1", x1, kMultiplied)
      .take("x2", x2, aclnn_check::dtype_bit(x1.scalar_type()))
      .take("gamma", gamma, kMultiplied)
      .take("beta", beta, kMultiplied);
  TORCH_CHECK(x1.sym_sizes() == x2.sym_sizes(), "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ",
              x2.sym_sizes(), ": they have one size");
  const Tensor x = x1 + x2;
  const auto [values, scales, rstd] =
      npu_rms_norm_dynamic_mx_quant(x, gamma, beta, epsilon, scale_alg, round_mode, dst_type);
  return {values, x, scales, rstd};
}

}  // namespace torch_npu::custom
