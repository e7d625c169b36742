#pragma once
// Whether something is of the device npu.

#include <optional>

#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/libs/init_npu.h"

namespace torch_npu::utils {

inline c10::DeviceType get_npu_device_type() { return c10::DeviceType::PrivateUse1; }

inline bool is_npu(const at::Device& device) { return device.is_privateuseone(); }
inline bool is_npu(const at::Tensor& tensor) { return tensor.is_privateuseone(); }
inline bool is_npu(const at::TensorOptions& options) { return is_npu(options.device()); }

// Throws unless it is.
template <typename T>
void torch_check_npu(const T& value) {
  TORCH_CHECK(is_npu(value), "Expected NPU tensor, please check whether the input tensor device is correct.",
              PTA_ERROR(ErrCode::PARAM));
}

// Starts the runtime if the device is an npu.
inline void maybe_initialize_npu(const at::Device& device) {
  if (is_npu(device)) init_npu(device);
}
inline void maybe_initialize_npu(const at::TensorOptions& options) { maybe_initialize_npu(options.device()); }
inline void maybe_initialize_npu(const std::optional<at::Device>& device) {
  if (device.has_value()) maybe_initialize_npu(*device);
}

}  // namespace torch_npu::utils
