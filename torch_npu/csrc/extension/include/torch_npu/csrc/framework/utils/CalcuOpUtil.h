#pragma once
// Older names of what OpPreparation has.

#include "torch_npu/csrc/core/npu/DeviceUtils.h"
#include "torch_npu/csrc/core/npu/npu_log.h"
#include "torch_npu/csrc/framework/utils/OpPreparation.h"

namespace at_npu::native {

class CalcuOpUtil {
 public:
  static aclDataType ConvertToAclDataType(const at::ScalarType& type) {
    return OpPreparation::convert_to_acl_data_type(type);
  }
  static at::ScalarType ConvertToScalarType(aclDataType type) { return OpPreparation::convert_to_scalar_type(type); }
  static at::Tensor CopyScalarToDevice(const c10::Scalar& scalar, at::ScalarType type) {
    return OpPreparation::copy_scalar_to_device(scalar, type);
  }
  static at::Tensor CopyTensorHostToDevice(const at::Tensor& tensor) {
    return OpPreparation::copy_tensor_host_to_device(tensor);
  }
  static bool IsScalarWrappedToTensor(const at::Tensor& tensor) {
    return OpPreparation::is_scalar_wrapped_to_tensor(tensor);
  }
  static int64_t GetTensorNpuFormat(const at::Tensor& tensor) { return OpPreparation::get_tensor_npu_format(tensor); }
  static int8_t GetCubeMathType() { return OpPreparation::get_cube_math_type(); }
  static int8_t GetCubeMathType(bool allow_hf32) { return OpPreparation::get_cube_math_type(allow_hf32); }
};

}  // namespace at_npu::native
