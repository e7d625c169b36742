// Softmax in losses, with masks, biases and dropout; gates; draws.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_gelu_mul.h>

#include <cmath>

#include "aten/composed/operands.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

void check_logits(const char* name, const Tensor& logits, const Tensor& labels) {
  Operands(name).take("input", logits, kReals).take("labels", labels, aclnn_check::dtype_bit(logits.scalar_type()));
  TORCH_CHECK(logits.dim() > 0 && logits.sym_sizes() == labels.sym_sizes(), name, ": input of size ",
              logits.sym_sizes(), " and labels of size ", labels.sym_sizes(), ": one size is taken");
}

void check_keep(const char* name, double p) {
  TORCH_CHECK(0 <= p && p < 1, name, ": p is ", p, ": a probability from 0 to below 1 is taken");
}

// A byte for each element: 1 with probability 1 - p.
Tensor byte_mask(const Tensor& like, double p) {
  return at::bernoulli(at::full_symint(like.sym_sizes(), 1 - p, like.options().dtype(at::kFloat))).to(at::kByte);
}

Tensor kept(const Tensor& tensor, const Tensor& mask, double p) {
  return tensor * mask.to(tensor.scalar_type()) * (1 / (1 - p));
}

void check_mask(const char* name, const char* role, const Tensor& tensor, const Tensor& mask) {
  Operands(name).take(role, tensor, kReals).take("mask", mask, dtypes({at::kByte}));
  TORCH_CHECK(mask.sym_sizes() == tensor.sym_sizes(), name, ": mask of size ", mask.sym_sizes(), " for ", role,
              " of size ", tensor.sym_sizes(), ": one byte an element is taken");
}

}  // namespace

Tensor npu_softmax_cross_entropy_with_logits(const Tensor& self, const Tensor& labels) {
  check_logits("npu_softmax_cross_entropy_with_logits", self, labels);
  return -(labels * at::log_softmax(self, -1)).sum(-1);
}

Tensor npu_softmax_cross_entropy_with_logits_backward(const Tensor& grad, const Tensor& self, const Tensor& labels) {
  constexpr const char* kName = "npu_softmax_cross_entropy_with_logits_backward";
  check_logits(kName, self, labels);
  Operands(kName).take("input", self).take("grad", grad, aclnn_check::dtype_bit(self.scalar_type()));
  return (at::softmax(self, -1) * labels.sum(-1, true) - labels) * grad.unsqueeze(-1);
}

Tensor npu_masked_softmax_with_rel_pos_bias(const Tensor& x, const std::optional<Tensor>& atten_mask,
                                            const Tensor& relative_pos_bias, double scale_value,
                                            int64_t /*inner_precision_mode*/) {
  const auto same = aclnn_check::dtype_bit(x.scalar_type());
  Operands("npu_masked_softmax_with_rel_pos_bias")
      .take("x", x, kReals)
      .take("atten_mask", atten_mask, same)
      .take("relative_pos_bias", relative_pos_bias, same);
  Tensor scores = scale_value == 1 ? x + relative_pos_bias : x * scale_value + relative_pos_bias;
  if (atten_mask.has_value() && atten_mask->defined()) scores = scores + *atten_mask;
  return at::softmax(scores, -1);
}

Tensor npu_gelu_mul(const Tensor& input, std::string_view approximate) {
  constexpr const char* kName = "npu_gelu_mul";
  Operands(kName).take("input", input, kReals);
  TORCH_CHECK(input.dim() > 0 && input.sym_size(-1) % 2 == 0, kName, ": input of size ", input.sym_sizes(),
              ": an even last dimension is taken");
  TORCH_CHECK(approximate == "none" || approximate == "tanh", kName, ": approximate is '", approximate,
              "': 'none' and 'tanh' are taken");
  const c10::SymInt half = input.sym_size(-1) / 2;
  static const AclnnOp<decltype(aclnnGeluMulGetWorkspaceSize)> function("aclnnGeluMul");
  if (input.is_privateuseone() && function.available()) {
    std::vector<int64_t> sizes = input.sizes().vec();
    sizes.back() /= 2;
    const Tensor out = at::empty(sizes, input.options());
    bind_device(input.device().index());
    if (out.numel() > 0) function(input.device().index(), input, approximate, out);
    return out;
  }
  return at::gelu(input.narrow_symint(-1, 0, half), approximate) * input.narrow_symint(-1, half, half);
}

std::tuple<Tensor, Tensor> _dropout_with_byte_mask(const Tensor& self, double p) {
  Operands("_dropout_with_byte_mask").take("input", self, kReals);
  check_keep("_dropout_with_byte_mask", p);
  const Tensor mask = byte_mask(self, p);
  return {kept(self, mask, p), mask};
}

Tensor _dropout_with_byte_mask_backward(const Tensor& grad_output, const Tensor& mask, double p) {
  check_mask("_dropout_with_byte_mask_backward", "grad_output", grad_output, mask);
  check_keep("_dropout_with_byte_mask_backward", p);
  return kept(grad_output, mask, p);
}

std::tuple<Tensor, Tensor, Tensor> npu_dropout_with_add_softmax(const Tensor& self, const Tensor& x1,
                                                                const at::Scalar& alpha, double prob, int64_t dim) {
  constexpr const char* kName = "npu_dropout_with_add_softmax";
  Operands(kName).take("input", self, kReals).take("x1", x1, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK(self.sym_sizes() == x1.sym_sizes(), kName, ": input of size ", self.sym_sizes(), " and x1 of size ",
              x1.sym_sizes(), ": one size is taken");
  check_keep(kName, prob);
  const Tensor softmax = at::softmax(at::add(x1, self, alpha), dim);
  const Tensor mask = byte_mask(self, prob);
  return {mask, softmax, kept(softmax, mask, prob)};
}

std::tuple<Tensor, Tensor> npu_dropout_with_add_softmax_backward(const Tensor& grad, const Tensor& mask,
                                                                 const Tensor& softmax_out, const at::Scalar& alpha,
                                                                 double prob, int64_t dim) {
  constexpr const char* kName = "npu_dropout_with_add_softmax_backward";
  check_mask(kName, "grad", grad, mask);
  Operands(kName).take("grad", grad).take("softmax_out", softmax_out, aclnn_check::dtype_bit(grad.scalar_type()));
  check_keep(kName, prob);
  const Tensor sum = at::_softmax_backward_data(kept(grad, mask, prob), softmax_out, dim, softmax_out.scalar_type());
  return {sum * alpha, sum};
}

Tensor& npu_sim_exponential_(Tensor& self, double lambd, std::optional<at::Generator> generator) {
  Operands("npu_sim_exponential_").take("input", self, kReals);
  TORCH_CHECK(lambd > 0, "npu_sim_exponential_ expects lambd > 0.0, but found lambd=", lambd);
  return std::isinf(lambd) ? self.zero_() : self.exponential_(lambd, std::move(generator));
}

// Bit i of a byte is the sign of element i of eight: 1 for zero and above, and for the elements behind the last one 0.
Tensor npu_sign_bits_pack(const Tensor& self, int64_t size) {
  constexpr const char* kName = "npu_sign_bits_pack";
  constexpr int64_t kBits = 8;
  Operands(kName).take("input", self, dtypes({at::kHalf, at::kFloat}));
  TORCH_CHECK(self.dim() == 1, kName, ": input of size ", self.sym_sizes(), ": one dimension is taken");
  const c10::SymInt bytes = (self.sym_size(0) + kBits - 1) / kBits;
  TORCH_CHECK(size > 0 && bytes % size == 0, kName, ": size is ", size, " for ", bytes, " bytes: it divides them");
  const Tensor bits = at::constant_pad_nd_symint((self >= 0).to(at::kByte), {0, bytes * kBits - self.sym_size(0)}, 0);
  const Tensor weights = at::bitwise_left_shift(at::ones({kBits}, bits.options()), at::arange(kBits, bits.options()));
  return (bits.reshape_symint({bytes, kBits}) * weights).sum(1, false, at::kByte).reshape_symint({size, bytes / size});
}

Tensor npu_sign_bits_unpack(const Tensor& input, int64_t size, at::ScalarType dtype) {
  constexpr const char* kName = "npu_sign_bits_unpack";
  constexpr int64_t kBits = 8;
  Operands(kName).take("input", input, dtypes({at::kByte}));
  TORCH_CHECK(input.dim() == 1, kName, ": input of size ", input.sym_sizes(), ": one dimension is taken");
  TORCH_CHECK(dtype == at::kFloat || dtype == at::kHalf, kName, ": dtype is ", dtype,
              ": float16 and float32 are taken");
  TORCH_CHECK(size > 0 && input.sym_size(0) * kBits % size == 0, kName, ": size is ", size, " for ",
              input.sym_size(0) * kBits, " bits: it divides them");
  const Tensor places = at::arange(kBits, input.options());
  const Tensor bits = at::bitwise_and(at::bitwise_right_shift(input.unsqueeze(1), places), 1);
  return (bits.to(dtype) * 2 - 1).reshape_symint({size, input.sym_size(0) * kBits / size});
}

}  // namespace torch_npu::custom
