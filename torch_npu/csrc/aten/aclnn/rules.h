#pragma once
// Shape rules for operators that are not structured in PyTorch, in the same form: meta() announces sizes and types of
// the outputs. Entries of npu_native_functions.yaml name them in `out`. The entry's `dtypes` reject calls whose types a
// rule cannot check.

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/im2col_shape_check.h>

#include <algorithm>
#include <array>
#include <optional>

#include "aten/aclnn/dense_strides.h"

namespace torch_npu::rules {

// ---- based on TensorIterator: broadcasting, types, overlaps -----------------------------------------------------

// The output is like the first argument; other arguments are ignored.
struct unary : at::TensorIteratorBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, const Rest&...) {
    build_borrowing_unary_op(maybe_get_output(), self);
  }
};

struct binary : at::TensorIteratorBase {
  void meta(const at::Tensor& self, const at::Tensor& other) {
    build_borrowing_binary_op(maybe_get_output(), self, other);
  }
};

// A gradient of the result and the argument; other arguments are ignored.
struct gradient : at::TensorIteratorBase {
  template <typename... Rest>
  void meta(const at::Tensor& grad_output, const at::Tensor& self, const Rest&...) {
    build_borrowing_binary_op(maybe_get_output(), grad_output, self);
  }
};

// other - alpha self, whose memory order is that of `other` first.
struct reversed_sub : at::TensorIteratorBase {
  void meta(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
    at::native::sub_check(other, self);
    build_borrowing_binary_op(maybe_get_output(), other, self);
    at::native::alpha_check(dtype(), alpha);
  }
};

struct logical : at::TensorIteratorBase {
  void meta(const at::Tensor& self, const at::Tensor& other) {
    build_borrowing_comparison_op(maybe_get_output(), self, other);
  }
};

struct logical_unary : at::TensorIteratorBase {
  void meta(const at::Tensor& self) {
    auto config = at::TensorIteratorConfig();
    config.check_all_same_dtype(false).add_output(maybe_get_output()).add_const_input(self);
    if (!maybe_get_output().defined()) config.declare_static_dtype(at::kBool);
    build(config);
  }
};

// self and other must have the same type.
struct where : at::TensorIteratorBase {
  void meta(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other) {
    auto config = at::TensorIteratorConfig();
    config.check_all_same_dtype(false).add_output(maybe_get_output()).add_const_input(condition);
    config.add_const_input(self).add_const_input(other);
    if (!maybe_get_output().defined()) config.declare_static_dtype(self.scalar_type());
    build(config);
  }
};

// ---- others ---------------------------------------------------------------------------------------------------

// The output has the sizes and memory order of the first argument.
struct like : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, const Rest&...) {
    const at::DimVector strides = self.is_contiguous() ? at::DimVector() : dense_strides(self);
    set_output_raw_strided(0, self.sizes(), strides, self.options());
  }
};

// The output is a copy of the first argument whose memory format is kept, as torch.cat keeps it.
struct rolled : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, const Rest&...) {
    set_output_raw_strided(0, self.sizes(), {}, self.options().memory_format(self.suggest_memory_format()));
  }
};

// The output is one number of the first argument's type.
struct one_number : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, const Rest&...) {
    set_output_raw_strided(0, {}, {}, self.options());
  }
};

struct prod : at::impl::MetaBase {
  void meta(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
    const at::ScalarType own = self.scalar_type();
    const at::ScalarType natural = at::isIntegralType(own, true) ? at::kLong : own;
    set_output_raw_strided(0, {}, {}, self.options().dtype(dtype.value_or(natural)));
  }
};

struct variance : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim, at::OptionalScalarRef, bool keepdim) {
    at::meta::resize_reduction(*this, self, dim, keepdim, c10::toRealValueType(self.scalar_type()));
  }
};

// PyTorch's own rule also copies self into the output, which aclnn does not need.
struct baddbmm : at::impl::MetaBase {
  void meta(const at::Tensor& self, const at::Tensor& batch1, const at::Tensor& batch2, const at::Scalar&,
            const at::Scalar&) {
    TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
    TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
    TORCH_CHECK(self.scalar_type() == batch1.scalar_type() && self.scalar_type() == batch2.scalar_type(),
                "Input dtypes must be the same, got: input ", self.scalar_type(), ", batch1: ", batch1.scalar_type(),
                ", batch2: ", batch2.scalar_type());
    TORCH_CHECK(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1),
                "Expected size for first two dimensions of batch2 tensor to be: [", batch1.size(0), ", ",
                batch1.size(2), "] but got: [", batch2.size(0), ", ", batch2.size(1), "].");
    const std::array<int64_t, 3> sizes{batch1.size(0), batch1.size(1), batch2.size(2)};
    TORCH_CHECK(at::is_expandable_to(self.sizes(), sizes), "baddbmm: self of size ", self.sizes(),
                " cannot be expanded to the products' size ", at::IntArrayRef(sizes));
    set_output_raw_strided(0, sizes, {}, batch2.options());
  }
};

struct index_select : at::impl::MetaBase {
  void meta(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
    dim = at::maybe_wrap_dim(dim, self.dim());
    TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
    at::DimVector sizes(self.sizes());
    if (!sizes.empty()) sizes[static_cast<std::size_t>(dim)] = index.numel();
    set_output_raw_strided(0, sizes, {}, self.options());
    at::assert_no_overlap(maybe_get_output(0), self);
    at::assert_no_overlap(maybe_get_output(0), index);
  }
};

struct embedding_dense_backward : at::impl::MetaBase {
  void meta(const at::Tensor& grad_output, const at::Tensor&, int64_t num_weights, int64_t, bool) {
    set_output_raw_strided(0, {num_weights, grad_output.size(-1)}, {}, grad_output.options());
  }
};

struct layer_norm : at::impl::MetaBase {
  void meta(const at::Tensor& input, at::IntArrayRef normalized_shape, at::OptionalTensorRef, at::OptionalTensorRef,
            double) {
    const auto inner = static_cast<int64_t>(normalized_shape.size());
    TORCH_CHECK(0 < inner && inner <= input.dim() && input.sizes().slice(input.dim() - inner) == normalized_shape,
                "Given normalized_shape=", normalized_shape, ", expected input with shape [*, ...] that ends with it, ",
                "but got input of size", input.sizes());
    at::DimVector rows(input.sizes());
    std::fill(rows.end() - inner, rows.end(), 1);
    set_output_raw_strided(0, input.sizes(), {}, input.options());
    set_output_raw_strided(1, rows, {}, input.options());
    set_output_raw_strided(2, rows, {}, input.options());
  }
};

struct group_norm : at::impl::MetaBase {
  void meta(const at::Tensor& input, at::OptionalTensorRef, at::OptionalTensorRef, int64_t n, int64_t, int64_t,
            int64_t group, double) {
    set_output_raw_strided(0, input.sizes(), {}, input.options().memory_format(input.suggest_memory_format()));
    set_output_raw_strided(1, {n, group}, {}, input.options());
    set_output_raw_strided(2, {n, group}, {}, input.options());
  }
};

// The order of an image's elements, whatever the strides of dimensions of size 1, as the CPU's batch norm sees it.
inline at::MemoryFormat order_of_image(const at::Tensor& image) {
  if (image.is_contiguous()) return at::MemoryFormat::Contiguous;
  for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d}) {
    if (image.is_contiguous(format)) return format;
  }
  return image.suggest_memory_format();
}

struct batch_norm : at::impl::MetaBase {
  void meta(const at::Tensor& input, at::OptionalTensorRef, at::OptionalTensorRef, at::OptionalTensorRef,
            at::OptionalTensorRef, bool training, double, double) {
    const int64_t channels = training ? input.size(1) : 0;
    set_output_raw_strided(0, input.sizes(), {}, input.options().memory_format(order_of_image(input)));
    set_output_raw_strided(1, {channels}, {}, input.options());
    set_output_raw_strided(2, {channels}, {}, input.options());
  }
};

// A convolution's results have their channels last if the image or the weight has, as on the CPU. PyTorch takes
// signals, [batch, channels, length], for images of one row, which it makes contiguous: there the weight decides.
struct with_image_format : at::impl::MetaBase {
 protected:
  void set_format(const at::Tensor& input, const at::Tensor& weight) {
    format_ = at::MemoryFormat::Contiguous;
    if (input.scalar_type() == at::kDouble) return;
    for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast3d}) {
      if ((input.dim() > 3 && format_of(input) == format) || format_of(weight) == format) {
        format_ = format;
        return;
      }
    }
  }

  void announce(int64_t i, at::IntArrayRef sizes, const at::TensorOptions& options) {
    if (sizes.size() != 3 || format_ == at::MemoryFormat::Contiguous)
      return set_output_raw_strided(i, sizes, {}, options.memory_format(format_));
    set_output_raw_strided(i, sizes, {sizes[1] * sizes[2], 1, sizes[1]}, options);
  }

 private:
  static at::MemoryFormat format_of(const at::Tensor& tensor) {
    if (tensor.dim() != 3) return tensor.suggest_memory_format();
    const std::array<int64_t, 4> sizes{tensor.size(0), tensor.size(1), 1, tensor.size(2)};
    const std::array<int64_t, 4> strides{tensor.stride(0), tensor.stride(1), tensor.size(2) * tensor.stride(2),
                                         tensor.stride(2)};
    const bool is_last = c10::is_channels_last_strides_2d(at::IntArrayRef(sizes), at::IntArrayRef(strides));
    return is_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  }

  at::MemoryFormat format_ = at::MemoryFormat::Contiguous;
};

struct convolution : with_image_format {
  template <typename... Flags>
  void meta(const at::Tensor& input, const at::Tensor& weight, at::OptionalTensorRef, at::IntArrayRef stride,
            at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding,
            int64_t groups, const Flags&...) {
    const auto sizes = transposed
                           ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding, output_padding, stride,
                                                         dilation, groups)
                           : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
    set_format(input, weight);
    announce(0, sizes, input.options());
  }
};

struct convolution_backward : with_image_format {
  void meta(const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight, at::OptionalIntArrayRef,
            at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, bool, at::IntArrayRef, int64_t,
            std::array<bool, 3> mask) {
    set_format(input, weight);
    if (mask[0]) announce(0, input.sizes(), input.options());
    if (mask[1]) announce(1, weight.sizes(), input.options());
    if (mask[2]) set_output_raw_strided(2, {grad_output.size(1)}, {}, input.options());
  }
};

struct adaptive_avg_pool : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::IntArrayRef output_size) {
    at::DimVector sizes(self.sizes());
    std::copy(output_size.begin(), output_size.end(), sizes.end() - static_cast<std::ptrdiff_t>(output_size.size()));
    const bool is_volume = output_size.size() == 3;  // contiguous, as on the CPU
    const auto format = is_volume ? at::MemoryFormat::Contiguous : self.suggest_memory_format();
    set_output_raw_strided(0, sizes, {}, self.options().memory_format(format));
  }
};

struct adaptive_avg_pool_backward : at::impl::MetaBase {
  void meta(const at::Tensor&, const at::Tensor& self) {
    set_output_raw_strided(0, self.sizes(), {}, self.options().memory_format(self.suggest_memory_format()));
  }
};

// The gradients of input, weight and bias that the mask selects.
struct norm_gradients : at::impl::MetaBase {
 protected:
  void announce(const at::Tensor& input, at::IntArrayRef weight_sizes, std::array<bool, 3> mask,
                at::MemoryFormat format = at::MemoryFormat::Contiguous) {
    if (mask[0]) set_output_raw_strided(0, input.sizes(), {}, input.options().memory_format(format));
    if (mask[1]) set_output_raw_strided(1, weight_sizes, {}, input.options());
    if (mask[2]) set_output_raw_strided(2, weight_sizes, {}, input.options());
  }
};

struct layer_norm_backward : norm_gradients {
  void meta(const at::Tensor&, const at::Tensor& input, at::IntArrayRef normalized_shape, const at::Tensor&,
            const at::Tensor&, at::OptionalTensorRef, at::OptionalTensorRef, std::array<bool, 3> mask) {
    const std::size_t outer = static_cast<std::size_t>(input.dim()) - normalized_shape.size();
    TORCH_CHECK(normalized_shape.size() <= static_cast<std::size_t>(input.dim()) &&
                    input.sizes().slice(outer) == normalized_shape,
                "native_layer_norm_backward: normalized_shape is ", normalized_shape, ", which an input of ",
                input.sizes(), " does not end with");
    announce(input, normalized_shape, mask);
  }
};

struct group_norm_backward : norm_gradients {
  void meta(const at::Tensor&, const at::Tensor& input, const at::Tensor&, const at::Tensor&, at::OptionalTensorRef,
            int64_t, int64_t channels, int64_t, int64_t, std::array<bool, 3> mask) {
    announce(input, {channels}, mask, input.suggest_memory_format());
  }
};

struct batch_norm_backward : norm_gradients {
  void meta(const at::Tensor&, const at::Tensor& input, at::OptionalTensorRef, at::OptionalTensorRef,
            at::OptionalTensorRef, at::OptionalTensorRef, at::OptionalTensorRef, bool, double,
            std::array<bool, 3> mask) {
    announce(input, {input.size(1)}, mask, order_of_image(input));
  }
};

// Images: the last dimensions grow by the padding before and after them; pairs start with the last dimension.
struct padded : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, at::IntArrayRef padding, const Rest&...) {
    at::DimVector sizes(self.sizes());
    for (std::size_t i = 0; i < padding.size(); ++i) sizes[sizes.size() - 1 - i / 2] += padding[i];
    set_output_raw_strided(0, sizes, {}, self.options().memory_format(self.suggest_memory_format()));
  }
};

// As `padded`; without padding a copy in the memory order of the argument.
struct constant_padded : padded {
  void meta(const at::Tensor& self, at::IntArrayRef padding, const at::Scalar& value) {
    if (std::any_of(padding.begin(), padding.end(), [](int64_t n) { return n != 0; }))
      return padded::meta(self, padding, value);
    set_output_raw_strided(0, self.sizes(), dense_strides(self), self.options());
  }
};

// The output is contiguous, with the sizes of the second argument.
struct as_second : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor&, const at::Tensor& self, const Rest&...) {
    set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
};

// The output has the sizes and memory format of the second argument.
struct image_as_second : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor&, const at::Tensor& self, const Rest&...) {
    set_output_raw_strided(0, self.sizes(), {}, self.options().memory_format(self.suggest_memory_format()));
  }
};

// Both outputs are like the first argument.
struct two_same_layout : at::impl::MetaBase {
  template <typename... Rest>
  void meta(const at::Tensor& self, const Rest&...) {
    set_output_raw_strided(0, self.sizes(), {}, self.options());
    set_output_raw_strided(1, self.sizes(), {}, self.options());
  }
};

struct im2col : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
            at::IntArrayRef stride) {
    TORCH_CHECK(kernel.size() == 2 && dilation.size() == 2 && padding.size() == 2 && stride.size() == 2,
                "im2col: kernel_size, dilation, padding and stride are pairs");
    at::native::im2col_shape_check(self, at::Tensor(), kernel[0], kernel[1], dilation[0], dilation[1], padding[0],
                                   padding[1], stride[0], stride[1]);
    const auto count = [&](std::size_t i) {
      const int64_t size = self.size(static_cast<int64_t>(i) - 2);
      return (size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    };
    at::DimVector sizes{self.size(-3) * kernel[0] * kernel[1], count(0) * count(1)};
    if (self.dim() == 4) sizes.insert(sizes.begin(), self.size(0));
    set_output_raw_strided(0, sizes, {}, self.options());
  }
};

struct col2im : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::IntArrayRef output_size, at::IntArrayRef kernel, at::IntArrayRef dilation,
            at::IntArrayRef padding, at::IntArrayRef stride) {
    TORCH_CHECK(output_size.size() == 2 && kernel.size() == 2 && dilation.size() == 2 && padding.size() == 2 &&
                    stride.size() == 2,
                "col2im: output_size, kernel_size, dilation, padding and stride are pairs");
    at::native::col2im_shape_check(self, at::Tensor(), output_size[0], output_size[1], kernel[0], kernel[1],
                                   dilation[0], dilation[1], padding[0], padding[1], stride[0], stride[1]);
    at::DimVector sizes{self.size(-2) / (kernel[0] * kernel[1]), output_size[0], output_size[1]};
    if (self.dim() == 3) sizes.insert(sizes.begin(), self.size(0));
    set_output_raw_strided(0, sizes, {}, self.options());
  }
};

// The grid determines the output's spatial sizes.
struct grid_sampler : at::impl::MetaBase {
  void meta(const at::Tensor& input, const at::Tensor& grid, int64_t, int64_t, bool) {
    at::DimVector sizes{input.size(0), input.size(1)};
    sizes.append(grid.sizes().begin() + 1, grid.sizes().end() - 1);
    set_output_raw_strided(0, sizes, {}, input.options());
  }
};

struct grid_sampler_backward : at::impl::MetaBase {
  void meta(const at::Tensor&, const at::Tensor& input, const at::Tensor& grid, int64_t, int64_t, bool,
            std::array<bool, 2> mask) {
    if (mask[0]) set_output_raw_strided(0, input.sizes(), {}, input.options());
    // PyTorch's kernels always compute it.
    set_output_raw_strided(1, grid.sizes(), {}, grid.options());
  }
};

struct logsumexp : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::IntArrayRef dim, bool keepdim) {
    at::meta::resize_reduction(*this, self, dim, keepdim, self.scalar_type());
  }
};

struct variance_and_mean : at::impl::MetaBase {
  void meta(const at::Tensor& self, at::OptionalIntArrayRef dim, at::OptionalScalarRef, bool keepdim) {
    const at::DimVector dims = at::native::make_dim_vector(dim, self.dim());
    const auto mask = at::native::make_dim_mask(dims, self.dim(), /*allow_empty_dims=*/false);
    const auto sizes = at::native::shape_from_dim_mask(self, mask, keepdim);
    set_output_raw_strided(0, sizes, {}, self.options());
    set_output_raw_strided(1, sizes, {}, self.options());
  }
};

struct nll_loss2d : at::impl::MetaBase {
  void meta(const at::Tensor& self, const at::Tensor& target, at::OptionalTensorRef, int64_t reduction, int64_t) {
    set_output_raw_strided(0, reduction == 0 ? target.sizes() : at::IntArrayRef(), {}, self.options());
    set_output_raw_strided(1, {}, {}, self.options());
  }
};

}  // namespace torch_npu::rules
