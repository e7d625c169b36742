// Copies of views: shapes, orders of dimensions, slices, types.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <limits>

#include "aten/composed/operands.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

std::vector<int64_t> inverse_of(const char* name, at::IntArrayRef perm) {
  std::vector<int64_t> inverse(perm.size(), -1);
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const auto size = static_cast<int64_t>(perm.size());
    const int64_t dim = perm[i] < 0 ? perm[i] + size : perm[i];
    TORCH_CHECK(0 <= dim && dim < size && inverse[static_cast<std::size_t>(dim)] < 0, name, ": perm is ", perm,
                ": each of ", size, " dimensions is taken once");
    inverse[static_cast<std::size_t>(dim)] = static_cast<int64_t>(i);
  }
  return inverse;
}

Tensor sliced(const Tensor& self, at::IntArrayRef offsets, at::IntArrayRef size) {
  Operands("npu_slice").take("input", self);
  TORCH_CHECK(static_cast<int64_t>(offsets.size()) == self.dim() && offsets.size() == size.size(),
              "npu_slice: offsets ", offsets, " and size ", size, " of a tensor of ", self.dim(),
              " dimensions: one of each for a dimension");
  Tensor part = self;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    TORCH_CHECK(offsets[i] >= 0 && size[i] >= 0 && self.sym_size(dim) >= offsets[i] + size[i], "npu_slice: offset ",
                offsets[i], " and size ", size[i], " in dimension ", i, " leave a tensor of size ", self.sym_sizes());
    part = part.narrow(dim, offsets[i], size[i]);
  }
  return apart_from(self, part);
}

// Which parts of `self` a strided slice takes: bits of the masks belong to entries of begin, end and strides.
struct Masks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};

bool has_bit(int64_t mask, std::size_t i) { return ((static_cast<uint64_t>(mask) >> i) & 1) != 0; }

Tensor strided(const Tensor& self, at::IntArrayRef begin, at::IntArrayRef end, at::IntArrayRef strides,
               const Masks& masks) {
  constexpr const char* kName = "npu_indexing";
  Operands(kName).take("input", self);
  TORCH_CHECK(begin.size() == end.size() && begin.size() == strides.size() && begin.size() < 64, kName, ": begin ",
              begin, ", end ", end, " and strides ", strides, ": as many of each are taken");
  int64_t named = 0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    named += has_bit(masks.ellipsis, i) || has_bit(masks.new_axis, i) ? 0 : 1;
    TORCH_CHECK(!has_bit(masks.ellipsis, i) || (masks.ellipsis >> i) == 1, kName, ": ellipsis_mask is ", masks.ellipsis,
                ": one bit at most");
  }
  TORCH_CHECK(named <= self.dim(), kName, ": ", named, " dimensions are indexed of a tensor of size ",
              self.sym_sizes());
  Tensor part = self;
  int64_t dim = 0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (has_bit(masks.ellipsis, i)) {
      dim += self.dim() - named;
      continue;
    }
    if (has_bit(masks.new_axis, i)) {
      part = part.unsqueeze(dim++);
      continue;
    }
    if (has_bit(masks.shrink, i)) {
      part = part.select(dim, begin[i]);
      continue;
    }
    TORCH_CHECK(strides[i] > 0, kName, ": stride ", strides[i], ": positive ones are taken");
    const c10::SymInt from = has_bit(masks.begin, i) ? 0 : begin[i];
    const c10::SymInt to = has_bit(masks.end, i) ? part.sym_size(dim) : c10::SymInt(end[i]);
    part = part.slice_symint(dim++, from, to, strides[i]);
  }
  return apart_from(self, part);
}

Tensor in_format(const Tensor& self, int64_t format, std::optional<int64_t> dtype, std::optional<int64_t> input_dtype) {
  using Cast = Tensor(const Tensor&, int64_t, std::optional<int64_t>, std::optional<int64_t>);
  static const auto cast = c10::Dispatcher::singleton().findSchemaOrThrow("npu::npu_format_cast", "").typed<Cast>();
  return cast.call(self, format, dtype, input_dtype);
}

Tensor broadcast_copy(const Tensor& self, at::IntArrayRef size) {
  Operands("npu_broadcast").take("input", self);
  return apart_from(self, self.expand(size));
}

Tensor reshaped(const Tensor& self, at::IntArrayRef shape) {
  Operands("npu_reshape").take("input", self);
  return apart_from(self, self.reshape(shape));
}

Tensor stride_copy(const Tensor& self, at::IntArrayRef shape, at::IntArrayRef stride, const at::Scalar& offset) {
  Operands("npu_stride_copy").take("input", self);
  return apart_from(self, self.contiguous().as_strided(shape, stride, offset.toLong()));
}

Tensor cast_copy(const char* name, const Tensor& self, at::ScalarType type) {
  Operands(name).take("input", self);
  return self.to(self.options().dtype(type), /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

Tensor npu_confusion_transpose(const Tensor& self, at::IntArrayRef perm, at::IntArrayRef shape, bool transpose_first) {
  Operands("npu_confusion_transpose").take("input", self);
  inverse_of("npu_confusion_transpose", perm);
  return apart_from(self, transpose_first ? self.permute(perm).reshape(shape) : self.reshape(shape).permute(perm));
}

// transpose_first is the opposite of the forward call's, `shape` is that of its input.
Tensor npu_confusion_transpose_backward(const Tensor& grad, at::IntArrayRef perm, c10::SymIntArrayRef shape,
                                        bool transpose_first) {
  constexpr const char* kName = "npu_confusion_transpose_backward";
  Operands(kName).take("grad", grad);
  const std::vector<int64_t> inverse = inverse_of(kName, perm);
  if (transpose_first) return apart_from(grad, grad.permute(inverse).reshape_symint(shape));
  TORCH_CHECK(perm.size() == shape.size(), kName, ": perm ", perm, " for a shape of ", shape.size(), " dimensions");
  std::vector<c10::SymInt> permuted;
  for (const int64_t dim : perm) {
    permuted.push_back(shape[static_cast<std::size_t>(dim < 0 ? dim + static_cast<int64_t>(perm.size()) : dim)]);
  }
  return apart_from(grad, grad.reshape_symint(permuted).permute(inverse));
}

Tensor _npu_dtype_cast(const Tensor& self, at::ScalarType dtype) { return cast_copy("_npu_dtype_cast", self, dtype); }

Tensor _npu_dtype_cast_backward(const Tensor& grad, at::ScalarType dtype) {
  return cast_copy("_npu_dtype_cast_backward", grad, dtype);
}

Tensor npu_dtype_cast(const Tensor& self, int64_t dtype, std::optional<int64_t> input_dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !input_dtype.has_value() || dtype_of_number("input_dtype", *input_dtype) == self.scalar_type(),
      "npu_dtype_cast: input_dtype is ", *input_dtype, " for a tensor of ", self.scalar_type(),
      ": None or its type is taken");
  return cast_copy("npu_dtype_cast", self, dtype_of_number("dtype", dtype));
}

Tensor npu_dtype_cast_backward(const Tensor& grad, at::ScalarType dtype, std::optional<int64_t> /*grad_dtype*/,
                               std::optional<int64_t> /*input_dtype*/) {
  return cast_copy("npu_dtype_cast_backward", grad, dtype);
}

Tensor& npu_dtype_cast_(Tensor& self, const Tensor& src) {
  Operands("npu_dtype_cast_").take("input", self).take("src", src);
  TORCH_CHECK(self.sym_sizes() == src.sym_sizes(), "npu_dtype_cast_: src of size ", src.sym_sizes(),
              " for a tensor of size ", self.sym_sizes());
  return self.copy_(src);
}

Tensor _npu_format_cast(const Tensor& self, int64_t acl_format) {
  return in_format(self, acl_format, std::nullopt, std::nullopt);
}

Tensor _npu_format_cast(const Tensor& self, int64_t acl_format, int64_t customize_dtype) {
  return in_format(self, acl_format, customize_dtype, std::nullopt);
}

Tensor _npu_format_cast(const Tensor& self, int64_t acl_format, int64_t customize_dtype, int64_t input_dtype) {
  return in_format(self, acl_format, customize_dtype, input_dtype);
}

Tensor& copy_memory_(Tensor& self, const Tensor& src, bool non_blocking) {
  Operands("copy_memory_").take("input", self).take("src", src, aclnn_check::dtype_bit(self.scalar_type()));
  return self.copy_(src, non_blocking);
}

Tensor& npu_view_copy(Tensor& self, const Tensor& other, bool non_blocking) {
  Operands("npu_view_copy").take("input", self).take("other", other);
  return self.copy_(other, non_blocking);
}

Tensor& one_(Tensor& self) {
  Operands("one_").take("input", self);
  return self.fill_(1);
}

Tensor npu_broadcast(const Tensor& self, at::IntArrayRef size) { return broadcast_copy(self, size); }
Tensor& npu_broadcast_outf(const Tensor& self, at::IntArrayRef size, Tensor& out) {
  return give(broadcast_copy(self, size), out);
}

Tensor npu_reshape(const Tensor& self, at::IntArrayRef shape, bool /*can_refresh*/) { return reshaped(self, shape); }
Tensor& npu_reshape_outf(const Tensor& self, at::IntArrayRef shape, bool /*can_refresh*/, Tensor& out) {
  return give(reshaped(self, shape), out);
}

Tensor npu_slice(const Tensor& self, at::IntArrayRef offsets, at::IntArrayRef size) {
  return sliced(self, offsets, size);
}
Tensor& npu_slice_outf(const Tensor& self, at::IntArrayRef offsets, at::IntArrayRef size, Tensor& out) {
  return give(sliced(self, offsets, size), out);
}

Tensor npu_indexing(const Tensor& self, at::IntArrayRef begin, at::IntArrayRef end, at::IntArrayRef strides,
                    int64_t begin_mask, int64_t end_mask, int64_t ellipsis_mask, int64_t new_axis_mask,
                    int64_t shrink_axis_mask) {
  return strided(self, begin, end, strides, {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask});
}
Tensor& npu_indexing_outf(const Tensor& self, at::IntArrayRef begin, at::IntArrayRef end, at::IntArrayRef strides,
                          int64_t begin_mask, int64_t end_mask, int64_t ellipsis_mask, int64_t new_axis_mask,
                          int64_t shrink_axis_mask, Tensor& out) {
  return give(
      strided(self, begin, end, strides, {begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask}), out);
}

Tensor npu_stride_copy(const Tensor& self, at::IntArrayRef shape, at::IntArrayRef stride,
                       const at::Scalar& storage_offset) {
  return stride_copy(self, shape, stride, storage_offset);
}
Tensor& npu_stride_copy_outf(const Tensor& self, at::IntArrayRef shape, at::IntArrayRef stride,
                             const at::Scalar& storage_offset, Tensor& out) {
  return give(stride_copy(self, shape, stride, storage_offset), out);
}

// Pairs for the first dimensions, the first dimension first; a single last number is for the front.
Tensor npu_pad(const Tensor& self, at::IntArrayRef paddings) {
  Operands("npu_pad").take("input", self);
  const auto count = static_cast<std::size_t>(self.dim()) * 2;
  TORCH_CHECK(paddings.size() <= count && std::ranges::all_of(paddings, [](int64_t n) { return n >= 0; }),
              "npu_pad: paddings are ", paddings, " for a tensor of size ", self.sym_sizes(),
              ": at most two for a dimension, none negative");
  std::vector<int64_t> before_and_after(count);
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    before_and_after[count - 2 - i / 2 * 2 + i % 2] = paddings[i];  // PyTorch's order begins with the last dimension
  }
  return apart_from(self, at::constant_pad_nd(self, before_and_after, 0));
}

}  // namespace torch_npu::custom
