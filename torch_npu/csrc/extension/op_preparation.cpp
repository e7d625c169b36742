#include "torch_npu/csrc/framework/utils/OpPreparation.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>

#include "core/aclnn_argument.h"
#include "core/device.h"
#include "core/format.h"
#include "core/options.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"

namespace at_npu::native {
namespace {

c10::Device current_npu() { return torch_npu::npu_device(torch_npu::current_device()); }

}  // namespace

at::Tensor OpPreparation::apply_tensor_without_format(c10::IntArrayRef sizes, const c10::TensorOptions& options) {
  return at::empty(sizes, options.device().is_privateuseone() ? options : options.device(current_npu()));
}
at::Tensor OpPreparation::apply_tensor_without_format(const at::Tensor& src, c10::IntArrayRef sizes) {
  return apply_tensor_without_format(sizes, src.options());
}
at::Tensor OpPreparation::apply_tensor_without_format(const at::Tensor& src) {
  return apply_tensor_without_format(src.sizes(), src.options());
}

at::Tensor OpPreparation::apply_tensor(const at::Tensor& src) { return apply_tensor_without_format(src); }
at::Tensor OpPreparation::apply_tensor(const at::Tensor& src, c10::IntArrayRef sizes) {
  return apply_tensor_without_format(src, sizes);
}
at::Tensor OpPreparation::apply_tensor(const at::Tensor& src, const c10::TensorOptions& options) {
  return apply_tensor_without_format(src.sizes(), options);
}
at::Tensor OpPreparation::apply_tensor(c10::IntArrayRef sizes, const c10::TensorOptions& options, const at::Tensor&) {
  return apply_tensor_without_format(sizes, options);
}

at::Tensor OpPreparation::apply_tensor_with_format(c10::IntArrayRef sizes, const c10::TensorOptions& options,
                                                   int64_t format, bool keep_format) {
  return empty_with_format(sizes, options, format, keep_format);
}
at::Tensor OpPreparation::apply_tensor_with_format(const at::Tensor& src, c10::IntArrayRef sizes, int64_t format,
                                                   bool keep_format) {
  return empty_with_format(sizes, src.options(), format, keep_format);
}
at::Tensor OpPreparation::apply_tensor_with_format(const at::Tensor& src, int64_t format, bool keep_format) {
  return empty_with_format(src.sizes(), src.options(), format, keep_format);
}

at::Tensor OpPreparation::unsafe_empty_workspace(uint64_t nbytes) {
  return at::empty({static_cast<int64_t>(nbytes)}, at::TensorOptions(at::kByte).device(current_npu()));
}

void OpPreparation::check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst, at::ScalarType dtype,
                                 c10::IntArrayRef sizes) {
  TORCH_CHECK(dst.is_privateuseone(), "an output has to be an npu tensor, not one of ", dst.device());
  TORCH_CHECK(dst.scalar_type() == dtype, "expected an output of dtype ", dtype, ", got ", dst.scalar_type());
  if (dst.sizes() != sizes) dst.resize_(sizes);
  check_memory(inputs, {dst});
}
void OpPreparation::check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst,
                                 const at::Tensor& expected) {
  check_tensor(inputs, dst, expected.scalar_type(), expected.sizes());
}
void OpPreparation::check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst,
                                 c10::IntArrayRef sizes) {
  check_tensor(inputs, dst, dst.scalar_type(), sizes);
}

void OpPreparation::check_memory(const std::initializer_list<at::Tensor>& inputs,
                                 const std::initializer_list<at::Tensor>& outputs) {
  for (const at::Tensor& output : outputs) {
    if (!output.defined()) continue;
    at::assert_no_internal_overlap(output);
    for (const at::Tensor& input : inputs) {
      if (input.defined()) at::assert_no_partial_overlap(output, input);
    }
  }
}

aclDataType OpPreparation::convert_to_acl_data_type(const at::ScalarType& type) {
  return torch_npu::acl_data_type(type);
}

at::ScalarType OpPreparation::convert_to_scalar_type(aclDataType type) {
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i) {
    const auto candidate = static_cast<at::ScalarType>(i);
    if (type != ACL_DT_UNDEFINED && torch_npu::acl_data_type(candidate) == type) return candidate;
  }
  TORCH_CHECK(false, "PyTorch has no dtype for aclDataType ", static_cast<int>(type));
}

bool OpPreparation::is_scalar_wrapped_to_tensor(const at::Tensor& tensor) {
  return tensor.defined() && tensor.dim() == 0 && tensor.is_cpu();
}

at::Tensor OpPreparation::copy_scalar_to_device(const c10::Scalar& scalar, at::ScalarType type, c10::Device device) {
  return at::scalar_tensor(scalar, at::TensorOptions(type).device(at::kCPU)).to(device);
}
at::Tensor OpPreparation::copy_scalar_to_device(const c10::Scalar& scalar, at::ScalarType type) {
  return copy_scalar_to_device(scalar, type, current_npu());
}
at::Tensor OpPreparation::copy_tensor_host_to_device(const at::Tensor& tensor) { return tensor.to(current_npu()); }

int64_t OpPreparation::get_tensor_npu_format(const at::Tensor& tensor) { return get_npu_format(tensor); }

at::Tensor OpPreparation::cast_to_ori_format(const at::Tensor& tensor) {
  if (torch_npu::is_base_format(static_cast<aclFormat>(get_npu_format(tensor)))) return tensor;
  constexpr int64_t kImageDims = 4;
  return npu_format_cast(tensor, tensor.dim() == kImageDims ? ACL_FORMAT_NCHW : ACL_FORMAT_ND);
}

int8_t OpPreparation::get_cube_math_type() { return torch_npu::cube_math_type(); }
int8_t OpPreparation::get_cube_math_type(bool allow_hf32) { return allow_hf32 ? 1 : 0; }

}  // namespace at_npu::native
