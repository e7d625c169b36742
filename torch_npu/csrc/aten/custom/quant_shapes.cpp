#include <ATen/ExpandUtils.h>

#include "aten/custom/attributes.h"
#include "aten/custom/dtype_number.h"
#include "aten/custom/shapes.h"

namespace torch_npu::shapes {
namespace {

using custom::dtype_of_number;

bool is_floating(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16 || type == at::kFloat; }

Output of_type(const at::Tensor& tensor, at::ScalarType type) {
  Output output = like(tensor);
  output.options = output.options.dtype(type);
  return output;
}

// [.., M, K] and [.., K, N] to [.., M, N].
c10::SymDimVector product_sizes(const char* left, c10::SymIntArrayRef a, const char* right, c10::SymIntArrayRef b) {
  TORCH_CHECK(a.size() >= 2 && b.size() >= 2 && a.back() == b[b.size() - 2], left, " of size ", a, " and ", right,
              " of size ", b, " do not multiply: [.., M, K] and [.., K, N] are taken");
  const auto batch = [](c10::SymIntArrayRef sizes) { return sizes.slice(0, sizes.size() - 2); };
  c10::SymDimVector sizes(at::infer_size_symdimvector(batch(a), batch(b)));
  sizes.push_back(a[a.size() - 2]);
  sizes.push_back(b.back());
  return sizes;
}

}  // namespace

Output quantized(const at::Tensor& input, int64_t dtype, bool div_mode) {
  const at::ScalarType type = dtype_of_number("dtype", dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(type == at::kChar || (div_mode && (type == at::kByte || type == at::kInt)), "dtype is ",
                              type, " with div_mode ", div_mode ? "True" : "False",
                              ": torch.qint8 is taken, and torch.quint8 and torch.qint32 with div_mode True");
  return of_type(input, type);
}

Output dynamic_quantized(const at::Tensor& input, std::optional<int64_t> dst_type, std::string_view quant_mode,
                         double dst_type_max) {
  TORCH_CHECK_NOT_IMPLEMENTED(!dst_type.has_value() || dtype_of_number("dst_type", *dst_type) == at::kChar,
                              "dst_type is ", dst_type.value_or(0), ": torch.int8 or None is taken");
  TORCH_CHECK_NOT_IMPLEMENTED(quant_mode == "pertoken", "quant_mode is '", quant_mode, "': 'pertoken' is taken");
  TORCH_CHECK_NOT_IMPLEMENTED(dst_type_max == 0, "dst_type_max is ", dst_type_max, ": 0 is taken");
  return of_type(input, at::kChar);
}

Output row_scales(const at::Tensor& input) {
  TORCH_CHECK(input.dim() > 0, "a tensor without dimensions has no rows");
  Output output = of_type(input, at::kFloat);
  output.sizes.pop_back();
  return output;
}

Output dequantized(const at::Tensor& x, std::optional<int64_t> dst_dtype, std::optional<int64_t> src_dtype) {
  const at::ScalarType type = dst_dtype.has_value() ? dtype_of_number("dst_dtype", *dst_dtype) : at::kHalf;
  TORCH_CHECK_NOT_IMPLEMENTED(is_floating(type), "dst_dtype is ", type,
                              ": torch.float16, torch.bfloat16 and torch.float32 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!src_dtype.has_value() || dtype_of_number("src_dtype", *src_dtype) == at::kChar,
                              "src_dtype is ", src_dtype.value_or(0), ": torch.int8 or None is taken");
  return of_type(x, type);
}

namespace {

// Throws unless the number is none, or that of int8.
void check_int8(const char* role, std::optional<int64_t> number) {
  TORCH_CHECK_NOT_IMPLEMENTED(!number.has_value() || dtype_of_number(role, *number) == at::kChar, role, " is ", *number,
                              ": None or int8 is taken");
}

bool is_given(const std::optional<at::Tensor>& tensor) { return tensor.has_value() && tensor->defined(); }

// `output` if it is computed, else one element.
Output unless_absent(Output output, bool is_computed) {
  if (!is_computed) output.sizes = {1};
  return output;
}

}  // namespace

Output normed_int8(const at::Tensor& x, const at::Tensor& gamma, std::optional<int64_t> dst_type) {
  check_int8("dst_type", dst_type);
  static_cast<void>(rows(x, gamma));
  return of_type(x, at::kChar);
}

Output normed_int8(const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& gamma, int64_t axis,
                   std::optional<int64_t> dst_type) {
  TORCH_CHECK(axis == -1, "axis is ", axis, ": -1 is taken");
  static_cast<void>(sum_of(x1, x2));
  return normed_int8(x1, gamma, dst_type);
}

std::array<bool, 2> asked_branches(const std::optional<at::Tensor>& smooth1, const std::optional<at::Tensor>& smooth2,
                                   const std::optional<std::array<bool, 2>>& output_mask) {
  const std::array<bool, 2> asked = output_mask.value_or(std::array{true, is_given(smooth1) && is_given(smooth2)});
  TORCH_CHECK(asked[0] || asked[1], "output_mask is all False: at least one of y1 and y2 is computed");
  return asked;
}

Output first_branch(const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& gamma,
                    const std::optional<at::Tensor>& smooth1, const std::optional<at::Tensor>& smooth2,
                    const std::optional<std::array<bool, 2>>& output_mask, std::optional<int64_t> y_dtype) {
  check_int8("y_dtype", y_dtype);
  static_cast<void>(sum_of(x1, x2));
  TORCH_CHECK(gamma.dim() == 1, "gamma is of size ", gamma.sym_sizes(), ": one dimension is taken");
  static_cast<void>(rows(x1, gamma));
  return unless_absent(of_type(x1, at::kChar), asked_branches(smooth1, smooth2, output_mask)[0]);
}

Output second_branch(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                     const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask) {
  return unless_absent(of_type(x1, at::kChar), asked_branches(smooth1, smooth2, output_mask)[1]);
}

Output first_scales(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                    const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask) {
  return unless_absent(row_scales(x1), asked_branches(smooth1, smooth2, output_mask)[0]);
}

Output second_scales(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                     const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask) {
  return unless_absent(row_scales(x1), asked_branches(smooth1, smooth2, output_mask)[1]);
}

Output packed_parameters(const at::Tensor& scale, const std::optional<at::Tensor>& offset,
                         std::optional<int64_t> round_mode) {
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode.value_or(0) == 0, "round_mode is ", round_mode.value_or(0), ": 0 is taken");
  const bool is_longer = offset.has_value() && offset->defined() && scale.dim() == 1 && offset->dim() == 1 &&
                         offset->sym_numel() > scale.sym_numel();
  return of_type(is_longer ? *offset : scale, at::kLong);
}

Output quantized_product(const at::Tensor& x1, const at::Tensor& x2, std::optional<int64_t> output_dtype,
                         at::OptionalIntArrayRef group_sizes) {
  const at::ScalarType type = output_dtype.has_value() ? dtype_of_number("output_dtype", *output_dtype) : at::kChar;
  TORCH_CHECK_NOT_IMPLEMENTED(type == at::kChar || is_floating(type), "output_dtype is ", type,
                              ": torch.int8, torch.float16, torch.bfloat16 and torch.float32 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!group_sizes.has_value() || group_sizes->empty(), "group_sizes is given: None is taken");
  return {product_sizes("x1", x1.sym_sizes(), "x2", x2.sym_sizes()), x1.options().dtype(type)};
}

Output weight_product(const at::Tensor& x, const at::Tensor& weight) {
  constexpr int64_t kCount = 8;
  c10::SymDimVector sizes(weight.sym_sizes());
  const bool is_int4 = weight.scalar_type() == at::kInt && x.dim() >= 2 && sizes.size() >= 2;
  if (is_int4) {
    const auto packed = static_cast<std::size_t>(weight.dim() + attributes::packed_dimension(x, weight));
    sizes[packed] = sizes[packed] * kCount;
  }
  return {product_sizes("x", x.sym_sizes(), is_int4 ? "weight of int4" : "weight", sizes), x.options()};
}

}  // namespace torch_npu::shapes
