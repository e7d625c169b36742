// The cells of PyTorch's LSTM and GRU on a device. Formulas: torch.nn.LSTM, torch.nn.GRU.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

namespace torch_npu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor with_bias(const Tensor& gates, const OptionalTensor& bias) {
  return bias.has_value() && bias->defined() ? gates + *bias : gates;
}

Tensor or_zeros(const OptionalTensor& grad, const Tensor& like) {
  return grad.has_value() && grad->defined() ? *grad : at::zeros_like(like);
}

// The order of gates is i, f, g, o. The workspace stores them activated, for the backward pass.
std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& cx,
                                             const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  auto gates = (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  Tensor i = gates[0].sigmoid();
  Tensor f = gates[1].sigmoid();
  Tensor g = gates[2].tanh();
  Tensor o = gates[3].sigmoid();
  Tensor cy = f * cx + i * g;
  return {o * cy.tanh(), cy, at::cat({i, f, g, o}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const OptionalTensor& grad_hy, const OptionalTensor& grad_cy,
                                                      const Tensor& cx, const Tensor& cy, const Tensor& workspace,
                                                      bool has_bias) {
  auto gates = workspace.chunk(4, 1);
  const Tensor& i = gates[0];
  const Tensor& f = gates[1];
  const Tensor& g = gates[2];
  const Tensor& o = gates[3];
  Tensor gh = or_zeros(grad_hy, cx);
  Tensor tanh_cy = cy.tanh();
  Tensor gc = or_zeros(grad_cy, cx) + gh * o * (1 - tanh_cy * tanh_cy);
  Tensor grad_gates =
      at::cat({gc * g * i * (1 - i), gc * cx * f * (1 - f), gc * i * (1 - g * g), gh * tanh_cy * o * (1 - o)}, 1);
  return {grad_gates, gc * f, has_bias ? grad_gates.sum(0) : Tensor()};
}

// The order of gates is r, z, n. The workspace stores r, z, n, hx and the hidden part of n.
std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx,
                                    const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  auto in = with_bias(input_gates, input_bias).chunk(3, 1);
  auto hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  Tensor r = (in[0] + hidden[0]).sigmoid();
  Tensor z = (in[1] + hidden[1]).sigmoid();
  Tensor n = (in[2] + r * hidden[2]).tanh();
  return {(1 - z) * n + z * hx, at::cat({r, z, n, hx, hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad_hy, const Tensor& workspace,
                                                                     bool has_bias) {
  auto saved = workspace.chunk(5, 1);
  const Tensor& r = saved[0];
  const Tensor& z = saved[1];
  const Tensor& n = saved[2];
  const Tensor& hx = saved[3];
  Tensor gn = grad_hy * (1 - z) * (1 - n * n);
  Tensor gz = grad_hy * (hx - n) * z * (1 - z);
  Tensor gr = gn * saved[4] * r * (1 - r);
  Tensor grad_input = at::cat({gr, gz, gn}, 1);
  Tensor grad_hidden = at::cat({gr, gz, gn * r}, 1);
  return {grad_input, grad_hidden, grad_hy * z, has_bias ? grad_input.sum(0) : Tensor(),
          has_bias ? grad_hidden.sum(0) : Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace
}  // namespace torch_npu
