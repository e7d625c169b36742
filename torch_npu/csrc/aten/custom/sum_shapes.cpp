#include <ATen/ExpandUtils.h>

#include <algorithm>

#include "aten/custom/shapes.h"

namespace torch_npu::shapes {

Output sum_of(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.sym_sizes() == b.sym_sizes(), "tensors of size ", a.sym_sizes(), " and ", b.sym_sizes(),
              " are not added: they have one size");
  Output output = like(a);
  if (a.scalar_type() != b.scalar_type()) output.options = output.options.dtype(at::kFloat);
  return output;
}

Output row_numbers(const at::Tensor& tensor, const at::Tensor& gamma) {
  Output output = rows(tensor, gamma);
  output.sizes.resize(static_cast<std::size_t>(tensor.dim() - gamma.dim()));
  output.sizes.push_back(1);
  return output;
}

Output broadcast(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  const auto both = at::infer_size_symdimvector(a.sym_sizes(), b.sym_sizes());
  const auto type = c10::promoteTypes(c10::promoteTypes(b.scalar_type(), c.scalar_type()), a.scalar_type());
  return {c10::SymDimVector(at::infer_size_symdimvector(both, c.sym_sizes())), a.options().dtype(type)};
}

Output loss_of_rows(const at::Tensor& input, const at::Tensor& target, std::string_view reduction) {
  TORCH_CHECK(input.dim() == 2 && target.dim() == 1 && target.sym_size(0) == input.sym_size(0), "input is of size ",
              input.sym_sizes(), " and target of size ", target.sym_sizes(), ": [N, C] and [N] are taken");
  TORCH_CHECK(reduction == "none" || reduction == "mean" || reduction == "sum", "reduction is '", reduction,
              "': 'none', 'mean' and 'sum' are taken");
  return {{reduction == "none" ? input.sym_size(0) : c10::SymInt(1)}, input.options()};
}

Output no_zloss(const at::Tensor& input, double lse_square_scale_for_zloss, bool return_zloss) {
  TORCH_CHECK_NOT_IMPLEMENTED(lse_square_scale_for_zloss == 0 && !return_zloss, "lse_square_scale_for_zloss is ",
                              lse_square_scale_for_zloss, " and return_zloss ", return_zloss ? "True" : "False",
                              ": zloss is not computed, 0 and False are taken");
  return {{0}, input.options()};
}

}  // namespace torch_npu::shapes
