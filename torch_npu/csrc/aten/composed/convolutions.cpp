// Convolutions under names of their own, with gradients.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// The numbers of a convolution, one for each of the spatial dimensions.
struct Window {
  at::IntArrayRef stride, padding, dilation;
  int64_t groups;
  bool is_transposed = false;
  at::IntArrayRef output_padding = {};

  void check(const char* name, const Tensor& input, const Tensor& weight, int64_t least, int64_t most) const {
    const int64_t dims = input.dim() - 2;
    TORCH_CHECK(least <= dims && dims <= most && weight.dim() == input.dim(), name, ": input of size ",
                input.sym_sizes(), " and weight of size ", weight.sym_sizes(), ": both have ", least + 2,
                least == most ? "" : " or 5", " dimensions");
    for (const auto& [role, numbers] : {std::pair("stride", stride), {"padding", padding}, {"dilation", dilation}}) {
      TORCH_CHECK(static_cast<int64_t>(numbers.size()) == dims, name, ": ", role, " is ", numbers, ": ", dims,
                  " numbers are taken");
    }
  }

  std::vector<int64_t> beyond() const {
    return output_padding.empty() ? std::vector<int64_t>(stride.size(), 0) : output_padding.vec();
  }

  Tensor forward(const char* name, const Tensor& input, const Tensor& weight, const OptionalTensor& bias, int64_t least,
                 int64_t most) const {
    const auto same = aclnn_check::dtype_bit(input.scalar_type());
    Operands(name).take("input", input, kReals).take("weight", weight, same).take("bias", bias, same);
    check(name, input, weight, least, most);
    return at::convolution(input, weight, bias, stride, padding, dilation, is_transposed, beyond(), groups);
  }

  Three backward(const char* name, const Tensor& input, const Tensor& grad, const Tensor& weight,
                 std::array<bool, 3> wanted, int64_t least, int64_t most, const char* role = "grad_output") const {
    const auto same = aclnn_check::dtype_bit(input.scalar_type());
    Operands(name).take("input", input, kReals).take(role, grad, same).take("weight", weight, same);
    check(name, input, weight, least, most);
    const std::vector<c10::SymInt> bias = {is_transposed ? weight.sym_size(1) * groups : weight.sym_size(0)};
    return at::convolution_backward_symint(grad, input, weight, at::OptionalSymIntArrayRef(bias),
                                           c10::fromIntArrayRefSlow(stride), c10::fromIntArrayRefSlow(padding),
                                           c10::fromIntArrayRefSlow(dilation), is_transposed,
                                           c10::fromIntArrayRefSlow(beyond()), groups, wanted);
  }
};

}  // namespace

Tensor npu_conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, at::IntArrayRef stride,
                  at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  return Window{stride, padding, dilation, groups}.forward("npu_conv2d", input, weight, bias, 2, 2);
}
Tensor& npu_conv2d_outf(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, at::IntArrayRef stride,
                        at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups, Tensor& out) {
  return give(npu_conv2d(input, weight, bias, stride, padding, dilation, groups), out);
}
Three npu_conv2d_backward(const Tensor& input, const Tensor& grad_output, const Tensor& weight, at::IntArrayRef stride,
                          at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups,
                          std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, groups}.backward("npu_conv2d_backward", input, grad_output, weight,
                                                            output_mask, 2, 2);
}

Tensor npu_conv3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, at::IntArrayRef stride,
                  at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  return Window{stride, padding, dilation, groups}.forward("npu_conv3d", input, weight, bias, 3, 3);
}
Tensor& npu_conv3d_outf(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, at::IntArrayRef stride,
                        at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups, Tensor& out) {
  return give(npu_conv3d(input, weight, bias, stride, padding, dilation, groups), out);
}
Three npu_conv3d_backward(const Tensor& input, const Tensor& grad, const Tensor& weight, at::IntArrayRef stride,
                          at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups,
                          std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, groups}.backward("npu_conv3d_backward", input, grad, weight, output_mask, 3,
                                                            3, "grad");
}

Tensor npu_convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
  return Window{stride, padding, dilation, groups}.forward("npu_convolution", input, weight, bias, 2, 3);
}
Three npu_convolution_backward(const Tensor& input, const Tensor& grad_output, const Tensor& weight,
                               at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                               int64_t groups, std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, groups}.backward("npu_convolution_backward", input, grad_output, weight,
                                                            output_mask, 2, 3);
}

Tensor npu_conv_transpose2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                            at::IntArrayRef padding, at::IntArrayRef output_padding, at::IntArrayRef stride,
                            at::IntArrayRef dilation, int64_t groups) {
  return Window{stride, padding, dilation, groups, true, output_padding}.forward("npu_conv_transpose2d", input, weight,
                                                                                 bias, 2, 2);
}
Three npu_conv_transpose2d_backward(const Tensor& input, const Tensor& grad_output, const Tensor& weight,
                                    at::IntArrayRef padding, at::IntArrayRef output_padding, at::IntArrayRef stride,
                                    at::IntArrayRef dilation, int64_t groups, std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, groups, true, output_padding}.backward(
      "npu_conv_transpose2d_backward", input, grad_output, weight, output_mask, 2, 2);
}
Three npu_conv_transpose3d_backward(const Tensor& input, const Tensor& grad_output, const Tensor& weight,
                                    at::IntArrayRef padding, at::IntArrayRef output_padding, at::IntArrayRef stride,
                                    at::IntArrayRef dilation, int64_t groups, std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, groups, true, output_padding}.backward(
      "npu_conv_transpose3d_backward", input, grad_output, weight, output_mask, 3, 3);
}

Tensor npu_convolution_transpose(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                                 at::IntArrayRef padding, at::IntArrayRef output_padding, at::IntArrayRef stride,
                                 at::IntArrayRef dilation, int64_t groups) {
  return Window{stride, padding, dilation, groups, true, output_padding}.forward("npu_convolution_transpose", input,
                                                                                 weight, bias, 2, 3);
}
Three npu_convolution_transpose_backward(const Tensor& input, const Tensor& grad, const Tensor& weight,
                                         at::IntArrayRef padding, at::IntArrayRef output_padding,
                                         at::IntArrayRef stride, at::IntArrayRef dilation, int64_t groups,
                                         std::array<bool, 3> grad_input_mask) {
  return Window{stride, padding, dilation, groups, true, output_padding}.backward(
      "npu_convolution_transpose_backward", input, grad, weight, grad_input_mask, 2, 3, "grad");
}

Three slow_conv_dilated2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight,
                                   at::IntArrayRef /*kernel_size*/, at::IntArrayRef stride, at::IntArrayRef padding,
                                   at::IntArrayRef dilation, std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, 1}.backward("slow_conv_dilated2d_backward", self, grad_output, weight,
                                                       output_mask, 2, 2);
}

Three slow_conv_transpose2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight,
                                     at::IntArrayRef /*kernel_size*/, at::IntArrayRef stride, at::IntArrayRef padding,
                                     at::IntArrayRef output_padding, at::IntArrayRef dilation,
                                     std::array<bool, 3> output_mask) {
  return Window{stride, padding, dilation, 1, true, output_padding}.backward("slow_conv_transpose2d_backward", self,
                                                                             grad_output, weight, output_mask, 2, 2);
}

// A filter [C, 1, kH, kW] for each channel.
std::tuple<Tensor, Tensor> _conv_depthwise2d_backward(const Tensor& grad_output, const Tensor& self,
                                                      const Tensor& weight, at::IntArrayRef /*kernel_size*/,
                                                      at::IntArrayRef stride, at::IntArrayRef padding,
                                                      at::IntArrayRef dilation, std::array<bool, 2> output_mask) {
  constexpr const char* kName = "_conv_depthwise2d_backward";
  TORCH_CHECK(self.dim() == 4, kName, ": input of size ", self.sym_sizes(), ": [N, C, H, W] is taken");
  const int64_t channels = self.sym_size(1).guard_int(__FILE__, __LINE__);
  const auto [input, filter, bias] = Window{stride, padding, dilation, channels}.backward(
      kName, self, grad_output, weight, {output_mask[0], output_mask[1], false}, 2, 2);
  return {input, filter};
}

}  // namespace torch_npu::custom
