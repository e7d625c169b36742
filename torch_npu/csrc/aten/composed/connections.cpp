// Several residual streams of a layer: mixed, and written; experts by the softmax of scores; gradients of transforms.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kValues = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});

bool is_present(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

void check_streams(const char* name, const Tensor& x, const OptionalTensor& h_res, const Tensor& h_out,
                   const Tensor& h_post) {
  Operands(name)
      .take("x", x, kValues)
      .take("h_res", h_res, kValues)
      .take("h_out", h_out, aclnn_check::dtype_bit(x.scalar_type()))
      .take("h_post", h_post, kValues);
  const auto leading = x.dim() >= 3 ? x.sym_sizes().slice(0, static_cast<std::size_t>(x.dim() - 2)) : x.sym_sizes();
  std::vector<c10::SymInt> out = leading.vec(), post = out, res = out;
  if (x.dim() >= 3) {
    out.push_back(x.sym_size(-1));
    post.push_back(x.sym_size(-2));
    res.push_back(x.sym_size(-2));
    res.push_back(x.sym_size(-2));
  }
  TORCH_CHECK((x.dim() == 3 || x.dim() == 4) && h_out.sym_sizes() == c10::SymIntArrayRef(out) &&
                  h_post.sym_sizes() == c10::SymIntArrayRef(post) &&
                  (!is_present(h_res) || h_res->sym_sizes() == c10::SymIntArrayRef(res)),
              name, ": x is of size ", x.sym_sizes(), ", h_out of size ", h_out.sym_sizes(), ", h_post of size ",
              h_post.sym_sizes(), ": [*, n, D], [*, D], [*, n], and for h_res [*, n, n] are taken");
}

// All in the type of computation.
Tensor written(const Tensor& x, const Tensor& h_res, const Tensor& h_out, const Tensor& h_post) {
  const Tensor stays = h_res.defined() ? at::matmul(h_res.transpose(-1, -2), x) : x;
  return h_post.unsqueeze(-1) * h_out.unsqueeze(-2) + stays;
}

Tensor widened(const OptionalTensor& tensor) { return is_present(tensor) ? in_compute_type(*tensor) : Tensor(); }

}  // namespace

Tensor npu_mhc_post(const Tensor& x, const OptionalTensor& h_res, const Tensor& h_out, const Tensor& h_post) {
  check_streams("npu_mhc_post", x, h_res, h_out, h_post);
  return written(in_compute_type(x), widened(h_res), in_compute_type(h_out), in_compute_type(h_post))
      .to(x.scalar_type());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> npu_mhc_post_backward(const Tensor& grad_y, const Tensor& x,
                                                                 const OptionalTensor& h_res, const Tensor& h_out,
                                                                 const Tensor& h_post) {
  constexpr const char* kName = "npu_mhc_post_backward";
  check_streams(kName, x, h_res, h_out, h_post);
  Operands(kName).take("x", x).take("grad_y", grad_y, aclnn_check::dtype_bit(x.scalar_type()));
  TORCH_CHECK(grad_y.sym_sizes() == x.sym_sizes(), kName, ": grad_y is of size ", grad_y.sym_sizes(), " for x of size ",
              x.sym_sizes());
  const Tensor g = in_compute_type(grad_y), res = widened(h_res);
  const Tensor out = in_compute_type(h_out), post = in_compute_type(h_post);
  const Tensor dx = res.defined() ? at::matmul(res, g) : g;
  const Tensor dres = res.defined() ? at::matmul(in_compute_type(x), g.transpose(-1, -2)).to(h_res->scalar_type())
                                    : at::empty({0}, h_post.options());
  return {apart_from(grad_y, dx.to(x.scalar_type())), dres, (g * post.unsqueeze(-1)).sum(-2).to(h_out.scalar_type()),
          (g * out.unsqueeze(-2)).sum(-1).to(h_post.scalar_type())};
}

std::tuple<Tensor, Tensor, Tensor> npu_moe_gating_top_k_softmax_v2(const Tensor& x, int64_t k,
                                                                   const OptionalTensor& finished,
                                                                   std::optional<int64_t> renorm,
                                                                   std::optional<bool> output_softmax) {
  constexpr const char* kName = "npu_moe_gating_top_k_softmax_v2";
  Operands(kName).take("x", x, kValues).take("finished", finished, dtypes({at::kBool}));
  const int64_t mode = renorm.value_or(0);
  TORCH_CHECK((x.dim() == 2 || x.dim() == 3) && k > 0 && x.sym_size(-1) >= k && (mode == 0 || mode == 1), kName,
              ": x is of size ", x.sym_sizes(), ", k ", k, ", renorm ", mode,
              ": two or three dimensions, up to as many as experts, and 0 or 1 are taken");
  TORCH_CHECK(!is_present(finished) || finished->sym_numel() * x.sym_size(-1) == x.sym_numel(), kName,
              ": finished is of size ", is_present(finished) ? finished->sym_sizes() : c10::SymIntArrayRef(),
              " for x of size ", x.sym_sizes(), ": one truth a row is taken");
  const Tensor all = at::softmax(in_compute_type(x), -1);
  // Of equal scores the first expert is taken.
  const auto [sorted, order] = at::sort(mode == 1 ? x : all, /*stable=*/true, -1, /*descending=*/true);
  const Tensor best = sorted.narrow(-1, 0, k);
  const Tensor out = mode == 1 ? at::softmax(in_compute_type(best), -1) : best;
  Tensor experts = order.narrow(-1, 0, k).to(at::kInt);
  if (is_present(finished)) {
    std::vector<c10::SymInt> rows = x.sym_sizes().vec();
    rows.back() = 1;
    experts = experts.masked_fill(finished->reshape_symint(rows), x.sym_size(-1).guard_int(__FILE__, __LINE__));
  }
  const bool gives_all = mode == 0 && output_softmax.value_or(false);
  return {out.to(x.scalar_type()).contiguous(), experts.contiguous(),
          gives_all ? all.to(at::kFloat) : at::empty({0}, x.options().dtype(at::kFloat))};
}

Tensor fft_r2c_backward(const Tensor& grad, at::IntArrayRef dim, int64_t normalization, bool onesided,
                        int64_t last_dim_size) {
  constexpr const char* kName = "fft_r2c_backward";
  Operands(kName).take("grad", grad, dtypes({at::kComplexFloat, at::kComplexDouble}));
  TORCH_CHECK(!dim.empty() && grad.dim() > 0, kName, ": dim is ", dim, " for a gradient of size ", grad.sym_sizes());
  std::vector<c10::SymInt> sizes = grad.sym_sizes().vec();
  const int64_t last = dim.back() < 0 ? dim.back() + grad.dim() : dim.back();
  TORCH_CHECK(0 <= last && last < grad.dim(), kName, ": dim is ", dim, " for a gradient of size ", grad.sym_sizes());
  sizes[static_cast<std::size_t>(last)] = last_dim_size;
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{at::_fft_r2c(inputs[0], dim, normalization, onesided)};
  };
  return gradients_of(
      function, {at::zeros_symint(sizes, grad.options().dtype(c10::toRealValueType(grad.scalar_type())))}, {grad})[0];
}

Tensor fft_c2r_backward(const Tensor& grad, at::IntArrayRef dim, int64_t normalization) {
  constexpr const char* kName = "fft_c2r_backward";
  Operands(kName).take("grad", grad, dtypes({at::kFloat, at::kDouble}));
  TORCH_CHECK(!dim.empty() && grad.dim() > 0, kName, ": dim is ", dim, " for a gradient of size ", grad.sym_sizes());
  const int64_t last = dim.back() < 0 ? dim.back() + grad.dim() : dim.back();
  TORCH_CHECK(0 <= last && last < grad.dim(), kName, ": dim is ", dim, " for a gradient of size ", grad.sym_sizes());
  std::vector<c10::SymInt> sizes = grad.sym_sizes().vec();
  const c10::SymInt size = grad.sym_size(last);
  sizes[static_cast<std::size_t>(last)] = size / 2 + 1;
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{at::_fft_c2r_symint(inputs[0], dim, normalization, size)};
  };
  return gradients_of(function, {at::zeros_symint(sizes, grad.options().dtype(c10::toComplexType(grad.scalar_type())))},
                      {grad})[0];
}

Tensor stft_backward(const Tensor& grad_output, const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                     std::optional<int64_t> win_length, const OptionalTensor& window, bool normalized,
                     std::optional<bool> onesided, std::optional<bool> return_complex) {
  Operands("stft_backward")
      .take("input", self, dtypes({at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}))
      .take("grad_output", grad_output, aclnn_check::kAllDtypes)
      .take("window", window, aclnn_check::kAllDtypes);
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{
        at::stft(inputs[0], n_fft, hop_length, win_length, window, normalized, onesided, return_complex)};
  };
  return gradients_of(function, {self}, {grad_output})[0];
}

}  // namespace torch_npu::custom
