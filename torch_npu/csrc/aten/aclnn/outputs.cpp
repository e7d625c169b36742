#include "aten/aclnn/outputs.h"

#include <ATen/native/Resize.h>

#include "aten/aclnn/check.h"
#include "aten/aclnn/dense_strides.h"
#include "aten/empty.h"

namespace torch_npu::aclnn_check {

void set_output(at::Tensor& out, Variant variant, at::IntArrayRef sizes, at::IntArrayRef strides,
                const at::TensorOptions& options) {
  const at::ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
  if (variant == Variant::kNew) {
    const c10::DeviceIndex device = options.device().index();
    out = strides.empty() ? make_tensor(sizes, dtype, device) : make_strided_tensor(sizes, strides, dtype, device);
    if (const auto format = options.memory_format_opt(); strides.empty() && format.has_value())
      out.unsafeGetTensorImpl()->empty_tensor_restride(*format);
    return;
  }
  if (variant == Variant::kInPlace) {
    TORCH_CHECK(out.scalar_type() == dtype, "Bad in-place call: input tensor dtype ", out.dtype(),
                " and output tensor dtype ", options.dtype(), " should match");
    TORCH_CHECK(out.sizes() == sizes, "Bad in-place call: input tensor size ", out.sizes(), " and output tensor size ",
                sizes, " should match");
    return;
  }
  TORCH_CHECK(out.scalar_type() == dtype, "Expected out tensor to have dtype ", options.dtype(), ", but got ",
              out.dtype(), " instead");
  TORCH_CHECK(options.device() == out.device(), "Expected out tensor to have device ", options.device(), ", but got ",
              out.device(), " instead");
  if (!at::native::resize_output(out, sizes)) return;
  if (!strides.empty()) {
    out.as_strided_(sizes, strides);
  } else if (const auto format = options.memory_format_opt(); format.has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
}

at::Tensor make_same_layout(const at::Tensor& first, at::ScalarType dtype) {
  const c10::DeviceIndex device = first.device().index();
  if (first.is_contiguous()) return make_tensor(first.sizes(), dtype, device);
  if (!first.is_contiguous(at::MemoryFormat::ChannelsLast))
    return make_strided_tensor(first.sizes(), dense_strides(first), dtype, device);
  at::Tensor result = make_tensor(first.sizes(), dtype, device);
  result.unsafeGetTensorImpl()->empty_tensor_restride(at::MemoryFormat::ChannelsLast);
  return result;
}

void check_overlap(const at::Tensor& out, const at::Tensor& input) {
  if (input.defined()) at::assert_no_partial_overlap(out, input);
}

at::Scalar number(const at::Tensor& tensor) {
  const void* data = tensor.const_data_ptr();
  switch (tensor.scalar_type()) {
    case at::kDouble: return *static_cast<const double*>(data);
    case at::kLong: return *static_cast<const int64_t*>(data);
    case at::kBool: return *static_cast<const bool*>(data);
    default: return tensor.item();
  }
}

}  // namespace torch_npu::aclnn_check
