// Convolutions over samples that offsets move.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kMoved = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});

struct Deformable {
  const char* name;
  at::IntArrayRef kernel, stride, padding, dilation;
  int64_t groups, offset_groups;
  bool is_modulated;

  int64_t parts() const { return is_modulated ? 3 : 2; }  // of offsets: x, y and a factor

  void check(const Tensor& input, const Tensor& weight, const Tensor& offset) const {
    Operands(name).take("input", input, kMoved).take("weight", weight, kMoved).take("offset", offset, kMoved);
    const bool has_numbers = kernel.size() == 2 && stride.size() == 4 && padding.size() == 4 && dilation.size() == 4;
    TORCH_CHECK(has_numbers, name, ": kernel_size is ", kernel, ", stride ", stride, ", padding ", padding,
                ", dilation ", dilation, ": two numbers and three times four are taken");
    TORCH_CHECK(kernel[0] > 0 && kernel[1] > 0 && stride[2] > 0 && stride[3] > 0 && dilation[2] > 0 &&
                    dilation[3] > 0 && groups > 0 && offset_groups > 0,
                name, ": kernel_size is ", kernel, ", stride ", stride, ", dilation ", dilation, ", groups ", groups,
                ", deformable_groups ", offset_groups, ": positive numbers are taken");
    TORCH_CHECK(input.dim() == 4 && weight.dim() == 4 && offset.dim() == 4 &&
                    offset.sym_size(1) == parts() * offset_groups * kernel[0] * kernel[1] &&
                    input.sym_size(1) % offset_groups == 0 && offset.sym_size(0) == input.sym_size(0) &&
                    weight.sym_size(2) == kernel[0] && weight.sym_size(3) == kernel[1] &&
                    offset.sym_size(2) == out_size(input.sym_size(2), 0) &&
                    offset.sym_size(3) == out_size(input.sym_size(3), 1),
                name, ": input is of size ", input.sym_sizes(), ", weight of size ", weight.sym_sizes(),
                ", offset of size ", offset.sym_sizes(), ": [N, C, H, W], [O, C / groups, kH, kW] and [N, ", parts(),
                " deformable_groups kH kW, H', W'] are taken");
  }

  c10::SymInt out_size(const c10::SymInt& size, std::size_t side) const {
    const int64_t padded = padding[2 * side] + padding[2 * side + 1] - (kernel[side] - 1) * dilation[2 + side] - 1;
    return (size + padded) / stride[2 + side] + 1;
  }

  // Where samples are along one side without offsets: [k, out].
  Tensor grid(const Tensor& like, std::size_t side, int64_t count) const {
    const Tensor outs = at::arange(count, like.options()) * stride[2 + side] - padding[2 * side];
    return at::arange(kernel[side], like.options()).unsqueeze(1) * dilation[2 + side] + outs;
  }

  // [N, C, H' kH, W' kW]
  Tensor sampled(const Tensor& input, const Tensor& offset) const {
    const int64_t n = input.size(0), channels = input.size(1), height = input.size(2), width = input.size(3);
    const int64_t kh = kernel[0], kw = kernel[1], rows = offset.size(2), columns = offset.size(3);
    const Tensor moved = offset.reshape({n, parts(), offset_groups, kh, kw, rows, columns});
    const Tensor x = moved.select(1, 0) + grid(offset, 1, columns).reshape({1, 1, 1, kw, 1, columns});
    const Tensor y = moved.select(1, 1) + grid(offset, 0, rows).reshape({1, 1, kh, 1, rows, 1});
    const Tensor pixels = input.reshape({n * offset_groups, channels / offset_groups, height * width});
    const Tensor x0 = x.detach().floor(), y0 = y.detach().floor();
    const auto corner = [&](int64_t right, int64_t below) {
      const Tensor column = x0 + right, row = y0 + below;
      const Tensor is_in =
          at::logical_and(at::logical_and(column >= 0, column < width), at::logical_and(row >= 0, row < height));
      const Tensor index =
          (row.clamp(0, std::max<int64_t>(height - 1, 0)) * width + column.clamp(0, std::max<int64_t>(width - 1, 0)))
              .to(at::kLong)
              .reshape({n * offset_groups, 1, -1});
      const Tensor weight = (1 - (x - column).abs()) * (1 - (y - row).abs()) * is_in.to(x.scalar_type());
      return pixels.gather(2, index.expand({-1, channels / offset_groups, -1})) *
             weight.reshape({n * offset_groups, 1, -1});
    };
    Tensor result = corner(0, 0) + corner(1, 0) + corner(0, 1) + corner(1, 1);
    if (is_modulated) result = result * moved.select(1, 2).reshape({n * offset_groups, 1, -1});
    return result.reshape({n, channels, kh, kw, rows, columns})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape({n, channels, rows * kh, columns * kw});
  }

  Tensor convolved(const Tensor& samples, const Tensor& weight, const OptionalTensor& bias) const {
    return at::convolution(samples, weight, bias, kernel, {0, 0}, {1, 1}, false, {0, 0}, groups);
  }
};

// Results are float32, or float64 as the input.
Tensor as_result(const Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat); }

}  // namespace

std::tuple<Tensor, Tensor> npu_deformable_conv2d(const Tensor& self, const Tensor& weight, const Tensor& offset,
                                                 const OptionalTensor& bias, at::IntArrayRef kernel_size,
                                                 at::IntArrayRef stride, at::IntArrayRef padding,
                                                 at::IntArrayRef dilation, int64_t groups, int64_t deformable_groups,
                                                 bool modulated) {
  const Deformable d{"npu_deformable_conv2d", kernel_size, stride, padding, dilation, groups,
                     deformable_groups,       modulated};
  d.check(self, weight, offset);
  Operands(d.name).take("input", self, kMoved).take("bias", bias, kMoved);
  const Tensor x = as_result(self);
  if (self.is_meta()) {
    const c10::SymInt rows = offset.sym_size(2), columns = offset.sym_size(3);
    return {at::empty_symint({self.sym_size(0), weight.sym_size(0), rows, columns}, x.options()),
            at::empty_symint({self.sym_size(0), self.sym_size(1), rows * kernel_size[0], columns * kernel_size[1]},
                             x.options())};
  }
  const Tensor samples = d.sampled(x, offset.to(x.scalar_type()));
  const OptionalTensor added =
      bias.has_value() && bias->defined() ? OptionalTensor(bias->to(x.scalar_type())) : OptionalTensor();
  return {d.convolved(samples, weight.to(x.scalar_type()), added), samples};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> npu_deformable_conv2dbk(const Tensor& self, const Tensor& grad_output,
                                                                   const Tensor& offset_out, const Tensor& weight,
                                                                   const Tensor& offset, at::IntArrayRef kernel_size,
                                                                   at::IntArrayRef stride, at::IntArrayRef padding,
                                                                   at::IntArrayRef dilation, int64_t groups,
                                                                   int64_t deformable_groups, bool modulated) {
  const Deformable d{"npu_deformable_conv2dbk", kernel_size, stride, padding, dilation, groups,
                     deformable_groups,         modulated};
  d.check(self, weight, offset);
  Operands(d.name)
      .take("input", self, kMoved)
      .take("grad_output", grad_output, kMoved)
      .take("offset_out", offset_out, kMoved);
  const auto empty_as = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
  if (self.is_meta()) {
    return {empty_as(self), empty_as(weight), empty_as(offset),
            at::empty_symint({weight.sym_size(0)}, weight.options())};
  }
  const Tensor x = as_result(self), w = weight.to(x.scalar_type()), grad = grad_output.to(x.scalar_type());
  const int64_t filters = weight.size(0);
  const auto [of_samples, of_weight, of_bias] =
      at::convolution_backward(grad, offset_out.to(x.scalar_type()), w, at::IntArrayRef(&filters, 1), kernel_size,
                               {0, 0}, {1, 1}, false, {0, 0}, groups, {true, true, true});
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{d.sampled(inputs[0], inputs[1])};
  };
  const std::vector<Tensor> found = gradients_of(function, {x, offset.to(x.scalar_type())}, {of_samples});
  return {found[0].to(self.scalar_type()), of_weight.to(weight.scalar_type()), found[1].to(offset.scalar_type()),
          of_bias.to(weight.scalar_type())};
}

}  // namespace torch_npu::custom
