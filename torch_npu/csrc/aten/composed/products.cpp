// Products of matrices under names of their own, with gradients and what follows them.

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kProducts = kReals | dtypes({at::kInt});

Tensor as_matrix(const Tensor& tensor, int64_t dim) { return tensor.dim() == 1 ? tensor.unsqueeze(dim) : tensor; }

// Sums what broadcasting repeated, in the caller's shape.
Tensor summed_to(const Tensor& product, c10::SymIntArrayRef sizes) {
  if (sizes.empty()) return product;
  TORCH_CHECK(at::is_expandable_to(sizes, product.sym_sizes()), "npu_bmmV2: a product of size ", product.sym_sizes(),
              " is not summed to ", sizes);
  return at::sum_to(product, sizes);
}

void check_matrices(const char* name, const char* role, const Tensor& a, const Tensor& b) {
  Operands(name).take(role, a, kProducts).take("mat2", b, aclnn_check::dtype_bit(a.scalar_type()));
  TORCH_CHECK(a.dim() > 0 && b.dim() > 0, name, ": a tensor without dimensions is no matrix");
}

bool is_order(at::IntArrayRef perm) {
  std::vector<int64_t> sorted = perm.vec();
  std::ranges::sort(sorted);
  return sorted == std::vector<int64_t>{0, 1, 2};
}

}  // namespace

Tensor npu_linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  const auto same = aclnn_check::dtype_bit(input.scalar_type());
  Operands("npu_linear").take("input", input, kProducts).take("weight", weight, same).take("bias", bias, same);
  TORCH_CHECK(input.dim() == 2 && weight.dim() == 2 && input.sym_size(1) == weight.sym_size(1),
              "npu_linear: input of size ", input.sym_sizes(), " and weight of size ", weight.sym_sizes(),
              ": [N, K] and [M, K] are taken");
  return bias.has_value() && bias->defined() ? at::addmm(*bias, input, weight.t()) : at::mm(input, weight.t());
}

std::tuple<Tensor, Tensor> npu_linear_backward(const Tensor& grad, const Tensor& input, const Tensor& weight) {
  const auto same = aclnn_check::dtype_bit(grad.scalar_type());
  Operands("npu_linear_backward").take("grad", grad, kReals).take("input", input, same).take("weight", weight, same);
  return {at::mm(grad, weight), at::mm(grad.t(), input)};
}

Tensor npu_bmmV2(const Tensor& self, const Tensor& mat2, at::IntArrayRef output_sizes) {
  check_matrices("npu_bmmV2", "input", self, mat2);
  return summed_to(at::matmul(as_matrix(self, 0), as_matrix(mat2, 1)), c10::fromIntArrayRefSlow(output_sizes));
}

Tensor npu_bmm_v2_mat1_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2, c10::SymIntArrayRef size) {
  check_matrices("npu_bmm_v2_mat1_backward", "mat1", mat1, mat2);
  Operands("npu_bmm_v2_mat1_backward")
      .take("mat1", mat1)
      .take("grad", grad, aclnn_check::dtype_bit(mat1.scalar_type()));
  const Tensor product = at::matmul(grad, as_matrix(mat2, 1).transpose(-1, -2));
  return mat1.dim() == 1 ? product.reshape_symint(size) : summed_to(product, size);
}

Tensor npu_bmm_v2_mat2_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2, c10::SymIntArrayRef size) {
  check_matrices("npu_bmm_v2_mat2_backward", "mat1", mat1, mat2);
  Operands("npu_bmm_v2_mat2_backward")
      .take("mat1", mat1)
      .take("grad", grad, aclnn_check::dtype_bit(mat1.scalar_type()));
  const Tensor product = at::matmul(as_matrix(mat1, 0).transpose(-1, -2), grad);
  return mat2.dim() == 1 ? product.reshape_symint(size) : summed_to(product, size);
}

Tensor npu_transpose_batchmatmul(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                                 const OptionalTensor& scale, at::OptionalIntArrayRef perm_x1,
                                 at::OptionalIntArrayRef perm_x2, at::OptionalIntArrayRef perm_y,
                                 std::optional<int64_t> batch_split_factor) {
  constexpr const char* kName = "npu_transpose_batchmatmul";
  const auto same = aclnn_check::dtype_bit(input.scalar_type());
  Operands(kName).take("input", input, kReals).take("weight", weight, same);
  TORCH_CHECK_NOT_IMPLEMENTED(!scale.has_value() || !scale->defined(), kName,
                              ": scale is given: None is taken, results in int8 are not computed");
  TORCH_CHECK_NOT_IMPLEMENTED(!bias.has_value() || !bias->defined(), kName, ": bias is given: None is taken");
  constexpr std::array<int64_t, 3> kAsIs = {0, 1, 2}, kRowsFirst = {1, 0, 2};
  const at::IntArrayRef x1 = perm_x1.value_or(at::IntArrayRef(kAsIs)), x2 = perm_x2.value_or(at::IntArrayRef(kAsIs));
  const at::IntArrayRef y = perm_y.value_or(at::IntArrayRef(kRowsFirst));
  TORCH_CHECK(input.dim() == 3 && weight.dim() == 3 && is_order(x1) && is_order(x2) && y == at::IntArrayRef(kRowsFirst),
              kName, ": input of size ", input.sym_sizes(), ", weight of size ", weight.sym_sizes(),
              ", perm_x1 should be an order of three dimensions and is ", x1, ", perm_x2 should be one and is ", x2,
              ", perm_y should be [1, 0, 2] and is ", y);
  const Tensor product = at::bmm(input.permute(x1), weight.permute(x2));  // [B, M, N]
  const int64_t parts = batch_split_factor.value_or(1);
  TORCH_CHECK(parts > 0 && product.sym_size(0) % parts == 0, kName, ": batch_split_factor is ", parts, " for ",
              product.sym_size(0), " products: it divides them");
  const Tensor rows = product.transpose(0, 1);
  if (parts == 1) return rows.contiguous();
  return rows.reshape_symint({rows.sym_size(0), parts, product.sym_size(0) / parts * product.sym_size(2)})
      .transpose(0, 1)
      .contiguous();
}

Tensor npu_fused_matmul(const Tensor& x1, const Tensor& x2, const OptionalTensor& bias, const OptionalTensor& x3,
                        std::string_view fused_op_type) {
  constexpr const char* kName = "npu_fused_matmul";
  const auto same = aclnn_check::dtype_bit(x1.scalar_type());
  Operands(kName).take("x1", x1, kReals).take("x2", x2, same).take("bias", bias, same).take("x3", x3, same);
  const bool has_third = x3.has_value() && x3->defined();
  const bool needs_third = fused_op_type == "add" || fused_op_type == "mul";
  TORCH_CHECK(has_third == needs_third, kName, ": x3 is ", has_third ? "given" : "None", " for fused_op_type '",
              fused_op_type, "': 'add' and 'mul' take it, no other does");
  Tensor product = at::matmul(x1, x2);
  if (bias.has_value() && bias->defined()) product = product + *bias;
  if (fused_op_type.empty()) return product;
  if (fused_op_type == "add") return product + *x3;
  if (fused_op_type == "mul") return product * *x3;
  if (fused_op_type == "relu") return at::relu(product);
  if (fused_op_type == "gelu_erf") return at::gelu(product);
  if (fused_op_type == "gelu_tanh") return at::gelu(product, "tanh");
  TORCH_CHECK(false, kName, ": fused_op_type is '", fused_op_type,
              "': '', 'add', 'mul', 'relu', 'gelu_erf' and 'gelu_tanh' are taken");
}

}  // namespace torch_npu::custom
