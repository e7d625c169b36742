#pragma once

namespace torch_npu {

// Lets the operators of namespace npu that have no kernel for CPU tensors refuse them with the argument's name. Called
// once, when all are registered.
void refuse_cpu_tensors();

}  // namespace torch_npu
