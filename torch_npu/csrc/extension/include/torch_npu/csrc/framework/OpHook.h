#pragma once
// Functions that are called before and after each operator with npu tensors, while the option OP_HOOK_ENABLE of
// torch.npu.set_option is "enable". Operators within an operator are not seen.

#include <string>

#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace at_npu::native {

using BeginFn = void (*)(const std::string& op_name);
using EndFn = void (*)();
using PreFn = void (*)(const at::Tensor& tensor);
using PostFn = void (*)(const at::Tensor& tensor);

// One of each kind; null removes it. Pre is called for each input tensor, Post for each output tensor.
TORCH_NPU_API void RegisterOpHookBeginFn(BeginFn hook);
TORCH_NPU_API void RegisterOpHookPreFn(PreFn hook);
TORCH_NPU_API void RegisterOpHookPostFn(PostFn hook);
TORCH_NPU_API void RegisterOpHookEndFn(EndFn hook);

}  // namespace at_npu::native
