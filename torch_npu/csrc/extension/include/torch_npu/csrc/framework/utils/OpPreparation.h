#pragma once
// Outputs of operators, and conversions of types.

#include <cstdint>
#include <initializer_list>

#include "third_party/acl/inc/acl/acl.h"
#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native {

class TORCH_NPU_API OpPreparation {
 public:
  // Uninitialised outputs, contiguous and in plain format: like a tensor, with other sizes, or with other options.
  static at::Tensor apply_tensor_without_format(const at::Tensor& src);
  static at::Tensor apply_tensor_without_format(const at::Tensor& src, c10::IntArrayRef sizes);
  static at::Tensor apply_tensor_without_format(c10::IntArrayRef sizes, const c10::TensorOptions& options);
  static at::Tensor apply_tensor(const at::Tensor& src);
  static at::Tensor apply_tensor(const at::Tensor& src, c10::IntArrayRef sizes);
  static at::Tensor apply_tensor(const at::Tensor& src, const c10::TensorOptions& options);
  static at::Tensor apply_tensor(c10::IntArrayRef sizes, const c10::TensorOptions& options, const at::Tensor& src);
  // In a format, a number of aclFormat.
  static at::Tensor apply_tensor_with_format(const at::Tensor& src, int64_t format, bool keep_format = false);
  static at::Tensor apply_tensor_with_format(const at::Tensor& src, c10::IntArrayRef sizes, int64_t format,
                                             bool keep_format = false);
  static at::Tensor apply_tensor_with_format(c10::IntArrayRef sizes, const c10::TensorOptions& options, int64_t format,
                                             bool keep_format = false);
  // Bytes of device memory for the current stream.
  static at::Tensor unsafe_empty_workspace(uint64_t nbytes);

  // Throws unless `dst` has the dtype; resizes it to the sizes.
  static void check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst, at::ScalarType dtype,
                           c10::IntArrayRef sizes);
  static void check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst,
                           const at::Tensor& expected);
  static void check_tensor(const std::initializer_list<at::Tensor>& inputs, at::Tensor& dst, c10::IntArrayRef sizes);
  // Throws if an output overlaps itself or, in part, an input.
  static void check_memory(const std::initializer_list<at::Tensor>& inputs,
                           const std::initializer_list<at::Tensor>& outputs);

  // A type that the other side lacks is ACL_DT_UNDEFINED, or throws.
  static aclDataType convert_to_acl_data_type(const at::ScalarType& type);
  static at::ScalarType convert_to_scalar_type(aclDataType type);

  // A CPU tensor of rank 0, as PyTorch passes numbers.
  static bool is_scalar_wrapped_to_tensor(const at::Tensor& tensor);
  static at::Tensor copy_scalar_to_device(const c10::Scalar& scalar, at::ScalarType type);
  static at::Tensor copy_scalar_to_device(const c10::Scalar& scalar, at::ScalarType type, c10::Device device);
  static at::Tensor copy_tensor_host_to_device(const at::Tensor& tensor);

  static int64_t get_tensor_npu_format(const at::Tensor& tensor);
  // In the plain format of its number of dimensions.
  static at::Tensor cast_to_ori_format(const at::Tensor& tensor);
  // aclnn's cubeMathType for float32 products (torch.npu.matmul.allow_hf32).
  static int8_t get_cube_math_type();
  static int8_t get_cube_math_type(bool allow_hf32);
};

}  // namespace at_npu::native
