#pragma once

namespace torch_npu::aicpu {

// In a catch block of what a CPU kernel throws: throws it on, of the same type, with the operator `op` ("add.Tensor",
// "aten::add") in place of names of CPU kernels ("addmm_impl_cpu_", "add_stub") and with npu as the device. What the
// host has no memory for is an OutOfMemoryError.
[[noreturn]] void rethrow_as_npu(const char* op);

}  // namespace torch_npu::aicpu
