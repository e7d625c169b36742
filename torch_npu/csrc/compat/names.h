#pragma once
// Named dimensions, which exist up to torch 2.12.

#include <c10/core/TensorImpl.h>
#include <torch/version.h>

namespace torch_npu::compat {

inline bool has_names([[maybe_unused]] const c10::TensorImpl& tensor) {
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
  return tensor.has_named_tensor_meta();
#else
  return false;
#endif
}

}  // namespace torch_npu::compat
