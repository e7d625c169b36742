#include "aten/composed/scaled_products.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "aten/composed/exact_products.h"
#include "aten/composed/mx.h"
#include "aten/custom/dtype_number.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr int64_t kShared = 32, kTwo = 2;

bool given(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

bool is_power(const OptionalTensor& scale) { return given(scale) && scale->dim() == 3; }

// [blocks, 2, N] or [M, blocks, 2] in bytes as factors of K numbers along `dim` of the result.
Tensor block_factors(const Tensor& scale, int64_t dim, int64_t count) {
  const Tensor powers = mx::powers_of(scale.contiguous().view(at::kByte));
  const Tensor blocks = dim == 0 ? powers.transpose(1, 2).flatten(0, 1) : powers.flatten(1);
  return blocks.repeat_interleave(kShared, dim).narrow(dim, 0, count);
}

}  // namespace

void check_scaled_product(const char* name, const char* left, const Tensor& x1, const Tensor& x2,
                          const OptionalTensor& x1_scale, const OptionalTensor& x2_scale) {
  Operands(name)
      .take(left, x1, kScaledTypes)
      .take("x2", x2, x1.scalar_type() == at::kChar ? dtypes({at::kChar}) : kScaledTypes & ~dtypes({at::kChar}))
      .take("x1_scale", x1_scale, kScaleTypes)
      .take("x2_scale", x2_scale, kScaleTypes);
  TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && x1.sym_size(1) == x2.sym_size(0), "npu::", name, ": ", left,
              " is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(), ": [M, K] and [K, N] are taken");
  TORCH_CHECK(given(x2_scale) && is_power(x1_scale) == is_power(x2_scale), "npu::", name,
              ": x2_scale is None, or one of x1_scale and x2_scale has three dimensions");
  const c10::SymInt rows = x1.sym_size(0), columns = x2.sym_size(1);
  const c10::SymInt pairs = (x1.sym_size(1) + kShared * kTwo - 1) / (kShared * kTwo);
  const auto check = [&](const char* role, const OptionalTensor& scale, std::vector<c10::SymInt> powers,
                         const c10::SymInt& numbers) {
    if (!given(scale)) return;
    const bool is_float = scale->scalar_type() == at::kFloat;
    TORCH_CHECK(is_power(scale) ? !is_float && scale->sym_sizes() == c10::SymIntArrayRef(powers)
                                : is_float && (scale->sym_numel() == 1 || scale->sym_numel() == numbers),
                "npu::", name, ": ", role, " is of size ", scale->sym_sizes(), " and ", scale->scalar_type(), " for ",
                left, " of size ", x1.sym_sizes(), " and x2 of size ", x2.sym_sizes(), ": a float32, ", numbers,
                " of them, or bytes of size ", c10::SymIntArrayRef(powers), " are taken");
  };
  check("x1_scale", x1_scale, {rows, pairs, kTwo}, rows);
  check("x2_scale", x2_scale, {pairs, columns, kTwo}, columns);
}

Tensor scaled_product(const Tensor& x1, const Tensor& x2, const OptionalTensor& x1_scale,
                      const OptionalTensor& x2_scale) {
  if (is_power(x2_scale)) {
    const int64_t count = x1.size(1);
    return at::matmul(x1.to(at::kFloat) * block_factors(*x1_scale, 1, count),
                      x2.to(at::kFloat) * block_factors(*x2_scale, 0, count));
  }
  const Tensor y =
      x1.scalar_type() == at::kChar ? exact_product(x1, x2) : at::matmul(x1.to(at::kFloat), x2.to(at::kFloat));
  const Tensor scaled = y * x2_scale->reshape({1, -1});
  return given(x1_scale) ? scaled * x1_scale->reshape({-1, 1}) : scaled;
}

void check_scaled_types(const char* name, at::OptionalIntArrayRef group_sizes,
                        std::initializer_list<std::pair<const char*, std::optional<int64_t>>> types) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !group_sizes.has_value() || group_sizes->empty() || *group_sizes == at::IntArrayRef({0, 0, 0}) ||
          *group_sizes == at::IntArrayRef({1, 1, kShared}),
      "npu::", name, ": group_sizes is ", *group_sizes, ": None, [0, 0, 0] and [1, 1, 32] ", "are taken");
  for (const auto& [role, number] : types) {
    if (!number.has_value()) continue;
    const at::ScalarType type = dtype_of_number(role, *number);
    TORCH_CHECK_NOT_IMPLEMENTED(type == at::kFloat8_e8m0fnu || type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2,
                                "npu::", name, ": ", role, " is ", *number, ", which is ", type,
                                ": None, or a number of float8 is taken");
  }
}

}  // namespace torch_npu::custom
