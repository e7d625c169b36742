// Sinkhorn's iterations on square matrices.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kMatrices = dtypes({at::kFloat, at::kDouble});

// The steps first, then rows and columns, then the batch: [2 num_iters, n, n, ...] of [..., n, n].
Tensor steps_first(const std::vector<Tensor>& steps) {
  std::vector<Tensor> moved;
  for (const Tensor& step : steps) moved.push_back(step.movedim({-2, -1}, {0, 1}));
  return at::stack(moved).contiguous();
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> npu_mhc_sinkhorn(const Tensor& x, double eps, c10::SymInt num_iters,
                                                    int64_t out_flag) {
  constexpr const char* kName = "npu_mhc_sinkhorn";
  Operands(kName).take("x", x, kMatrices);
  const int64_t count = num_iters.guard_int(__FILE__, __LINE__);
  TORCH_CHECK((x.dim() == 3 || x.dim() == 4) && x.sym_size(-1) == x.sym_size(-2) && count > 0 &&
                  (out_flag == 0 || out_flag == 1),
              kName, ": x is of size ", x.sym_sizes(), ", num_iters ", count, ", out_flag ", out_flag,
              ": [B, S, n, n] or [T, n, n], a positive number, and 0 or 1 are taken");
  if (x.is_meta()) {
    const Tensor none = at::empty({0}, x.options());
    const Tensor y = at::empty_symint(x.sym_sizes(), x.options());
    if (out_flag == 0) return {y, none, at::empty({0}, x.options())};
    std::vector<c10::SymInt> sizes = {2 * count, x.sym_size(-1)};
    for (int64_t i = 0; i + 2 < x.dim(); ++i) sizes.push_back(x.sym_size(i));
    const Tensor sums = at::empty_symint(sizes, x.options());
    sizes.insert(sizes.begin() + 1, x.sym_size(-1));
    return {y, at::empty_symint(sizes, x.options()), sums};
  }
  Tensor y = x.softmax(-1) + eps;
  std::vector<Tensor> norms = {y}, sums = {at::ones_like(y.select(-1, 0))};
  for (int64_t step = 1; step < 2 * count; ++step) {
    const int64_t dim = step % 2 == 1 ? -2 : -1;
    const Tensor sum = y.sum(dim, true) + eps;
    y = y / sum;
    if (out_flag == 0) continue;
    norms.push_back(y);
    sums.push_back(sum.squeeze(dim));
  }
  if (out_flag == 0) return {y, at::empty({0}, x.options()), at::empty({0}, x.options())};
  std::vector<Tensor> moved;
  for (const Tensor& sum : sums) moved.push_back(sum.movedim(-1, 0));
  return {y, steps_first(norms), at::stack(moved).contiguous()};
}

Tensor npu_mhc_sinkhorn_backward(const Tensor& grad_y, const Tensor& norm, const Tensor& sum) {
  constexpr const char* kName = "npu_mhc_sinkhorn_backward";
  const auto same = aclnn_check::dtype_bit(grad_y.scalar_type());
  Operands(kName).take("grad_y", grad_y, kMatrices).take("norm", norm, same).take("sum", sum, same);
  TORCH_CHECK(norm.dim() == grad_y.dim() + 1 && sum.dim() == grad_y.dim() && norm.sym_size(0) == sum.sym_size(0), kName,
              ": norm is of size ", norm.sym_sizes(), ", sum of size ", sum.sym_sizes(), " for a gradient of size ",
              grad_y.sym_sizes(), ": those of npu_mhc_sinkhorn with out_flag=1 are taken");
  if (grad_y.is_meta()) return at::empty_symint(grad_y.sym_sizes(), grad_y.options());
  Tensor grad = grad_y;
  for (int64_t step = norm.size(0) - 1; step > 0; --step) {
    const int64_t dim = step % 2 == 1 ? -2 : -1;
    const Tensor y = norm.select(0, step).movedim({0, 1}, {-2, -1});
    const Tensor divisor = sum.select(0, step).movedim(0, -1).unsqueeze(dim);
    grad = (grad - (grad * y).sum(dim, true)) / divisor;
  }
  // The first step is a softmax plus eps, which its rows' sums tell.
  const Tensor first = norm.select(0, 0).movedim({0, 1}, {-2, -1});
  const Tensor softmax = first - (first.sum(-1, true) - 1) / static_cast<double>(grad.size(-1));
  return (softmax * (grad - (grad * softmax).sum(-1, true))).contiguous();
}

}  // namespace torch_npu::custom
