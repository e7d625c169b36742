#pragma once

namespace torch_npu {

// Registers kernels that raise an error with the argument's name when CPU tensors are passed to npu:: operators without
// a CPU kernel. Called once, after all are registered.
void refuse_cpu_tensors();

}  // namespace torch_npu
