// Microscaling of groups of rows, microscaling in two levels, and products of what it gives.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/mx.h"
#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr int64_t kBlock = 32, kPair = 2, kLevel = 512;
constexpr double kMostOfFloat4 = 6;
constexpr aclnn_check::Dtypes kBytes = dtypes({at::kChar, at::kByte});
constexpr aclnn_check::Dtypes kPowers = dtypes({at::kByte, at::kChar, at::kFloat8_e8m0fnu});

Tensor bits_of(const Tensor& powers) { return powers.contiguous().view(at::kByte); }

// Each number of the last dimension `count` times, cut to `size`.
Tensor spread(const Tensor& numbers, int64_t count, const c10::SymInt& size) {
  return numbers.repeat_interleave(count, -1).narrow_symint(-1, 0, size);
}

}  // namespace

std::tuple<Tensor, Tensor> npu_grouped_dynamic_mx_quant(const Tensor& x, const Tensor& group_index,
                                                        std::string_view round_mode, int64_t dst_type,
                                                        int64_t blocksize, std::optional<int64_t> scale_alg,
                                                        std::optional<double> dst_type_max) {
  constexpr const char* kName = "npu_grouped_dynamic_mx_quant";
  Operands(kName)
      .take("x", x, dtypes({at::kHalf, at::kBFloat16, at::kFloat}))
      .take("group_index", group_index, kIndexes);
  mx::check_scaling(kName, x, round_mode, blocksize, scale_alg.value_or(0), dst_type_max.value_or(0), 0);
  TORCH_CHECK(x.dim() == 2 && group_index.dim() == 1 && blocksize == kBlock, "npu::", kName, ": x is of size ",
              x.sym_sizes(), ", group_index of size ", group_index.sym_sizes(), ", blocksize ", blocksize,
              ": [M, N], [groups] and 32 are taken");
  const mx::Element element = mx::element_of(kName, dst_type);
  const c10::SymInt rows = x.sym_size(0), columns = x.sym_size(1);
  TORCH_CHECK(element.type.has_value() || columns % 2 == 0, "npu::", kName, ": x is of size ", x.sym_sizes(),
              ": an even last dimension is taken for float4");
  const auto value_type = element.type.value_or(at::kByte);
  const auto sizes = {rows, element.type.has_value() ? columns : columns / 2};
  const std::vector<c10::SymInt> scale_sizes = {rows / (kBlock * kPair) + group_index.sym_size(0), columns, kPair};
  if (x.is_meta()) {
    return {at::empty_symint(sizes, x.options().dtype(value_type)),
            at::empty_symint(scale_sizes, x.options().dtype(at::kByte))};
  }
  // Through bytes: there is no fill of float8.
  const Tensor bytes = at::zeros_symint(sizes, x.options().dtype(at::kByte));
  const Tensor scales = at::zeros_symint(scale_sizes, x.options().dtype(at::kByte));
  int64_t begin = 0, group = 0;
  for (const int64_t end : numbers_of(kName, "group_index", group_index)) {
    TORCH_CHECK(begin <= end && end <= x.size(0), "npu::", kName, ": group_index has ", end, " behind ", begin, " for ",
                x.size(0), " rows: ends that do not fall are taken");
    if (begin < end) {
      const mx::Scaled part = mx::scaled(kName, x.slice(0, begin, end), 0, element, blocksize);
      bytes.slice(0, begin, end).copy_(part.values.view(at::kByte));
      const int64_t first = begin / (kBlock * kPair) + group;
      scales.slice(0, first, first + part.scales.size(0)).copy_(part.scales);
    }
    begin = end;
    ++group;
  }
  return {bytes.view(value_type), scales};
}

std::tuple<Tensor, Tensor, Tensor> npu_dynamic_dual_level_mx_quant(const Tensor& self,
                                                                   const OptionalTensor& smooth_scale,
                                                                   std::string_view round_mode) {
  constexpr const char* kName = "npu_dynamic_dual_level_mx_quant";
  mx::check_scaling(kName, self, round_mode, kBlock, 0, 0, 0);
  TORCH_CHECK_NOT_IMPLEMENTED(!smooth_scale.has_value() || !smooth_scale->defined(), "npu::", kName,
                              ": smooth_scale is given: None is taken");
  TORCH_CHECK(self.sym_size(-1) % 2 == 0, "npu::", kName, ": input is of size ", self.sym_sizes(),
              ": an even last dimension is taken");
  const c10::SymInt count = self.sym_size(-1), levels = (count + kLevel - 1) / kLevel;
  std::vector<c10::SymInt> blocks = self.sym_sizes().vec();
  blocks.back() = levels;
  blocks.push_back(kLevel);
  const Tensor widened = self.to(at::kFloat);
  const Tensor padded = at::constant_pad_nd_symint(widened, {0, levels * kLevel - count}, 0).reshape_symint(blocks);
  const Tensor scales = padded.abs().amax({-1}) / kMostOfFloat4;
  const Tensor divisors = spread(at::where(scales > 0, scales, 1), kLevel, count);
  const Tensor first = (widened / divisors).to(self.scalar_type());
  const mx::Scaled second = mx::scaled(kName, first, -1, mx::element_of(kName, mx::kFloat4), kBlock);
  return {second.values, scales, second.scales};
}

Tensor npu_dual_level_quant_matmul(const Tensor& x1, const Tensor& x2, const Tensor& x1_level0_scale,
                                   const Tensor& x2_level0_scale, const Tensor& x1_level1_scale,
                                   const Tensor& x2_level1_scale, const OptionalTensor& bias, int64_t output_dtype) {
  constexpr const char* kName = "npu_dual_level_quant_matmul";
  Operands(kName)
      .take("x1", x1, kBytes)
      .take("x2", x2, kBytes)
      .take("x1_level0_scale", x1_level0_scale, dtypes({at::kFloat}))
      .take("x2_level0_scale", x2_level0_scale, dtypes({at::kFloat}))
      .take("x1_level1_scale", x1_level1_scale, kPowers)
      .take("x2_level1_scale", x2_level1_scale, kPowers)
      .take("bias", bias, dtypes({at::kFloat}));
  const at::ScalarType type = dtype_of_number("output_dtype", output_dtype);
  TORCH_CHECK(type == at::kHalf || type == at::kBFloat16, "npu::", kName, ": output_dtype is ", type,
              ": float16 and bfloat16 are taken");
  TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && x1.sym_size(1) == x2.sym_size(1), "npu::", kName, ": x1 is of size ",
              x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(), ": [M, K / 2] and [N, K / 2] are taken");
  const c10::SymInt rows = x1.sym_size(0), columns = x2.sym_size(0), count = x1.sym_size(1) * 2;
  const c10::SymInt levels = (count + kLevel - 1) / kLevel, pairs = (count + kBlock * kPair - 1) / (kBlock * kPair);
  const auto is_of = [](const Tensor& t, std::initializer_list<c10::SymInt> sizes) {
    return t.sym_sizes() == c10::SymIntArrayRef(sizes);
  };
  TORCH_CHECK(is_of(x1_level0_scale, {rows, levels}) && is_of(x2_level0_scale, {levels, columns}) &&
                  is_of(x1_level1_scale, {rows, pairs, kPair}) && is_of(x2_level1_scale, {columns, pairs, kPair}) &&
                  (!bias.has_value() || !bias->defined() || bias->sym_numel() == columns),
              "npu::", kName, ": scales are of sizes ", x1_level0_scale.sym_sizes(), ", ", x2_level0_scale.sym_sizes(),
              ", ", x1_level1_scale.sym_sizes(), " and ", x2_level1_scale.sym_sizes(), " for a product [", rows, ", ",
              count, "] [", count, ", ", columns,
              "]: [M, K / 512], [K / 512, N], [M, K / 64, 2] and [N, K / 64, 2], rounded up, are taken");
  if (x1.is_meta()) return at::empty_symint({rows, columns}, x1.options().dtype(type));
  const auto values = [&](const Tensor& bytes, const Tensor& powers) {
    return mx::numbers_of_float4(bytes.view(at::kByte)) *
           spread(mx::powers_of(bits_of(powers)).flatten(1), kBlock, count);
  };
  const Tensor a = values(x1, x1_level1_scale), b = values(x2, x2_level1_scale);
  Tensor sum = at::zeros({x1.size(0), x2.size(0)}, x1.options().dtype(at::kFloat));
  for (int64_t i = 0; i < x1_level0_scale.size(1); ++i) {
    const auto part = [&](const Tensor& t) { return t.slice(1, i * kLevel, (i + 1) * kLevel); };
    sum = sum +
          at::matmul(part(a), part(b).t()) * x1_level0_scale.select(1, i).unsqueeze(1) * x2_level0_scale.select(0, i);
  }
  if (bias.has_value() && bias->defined()) sum = sum + *bias;
  return sum.to(type);
}

}  // namespace torch_npu::custom
