#pragma once

#include <string_view>

namespace torch_npu::aicpu {

// In a catch block for a CPU kernel's exception: rethrows it with the same type, with names of CPU kernels
// ("addmm_impl_cpu_", "add_stub") replaced by the operator `op` ("add.Tensor", "aten::add") and with npu as the device.
// Exhausted host memory becomes an OutOfMemoryError.
[[noreturn]] void rethrow_as_npu(const char* op);

// "add" for "add.Tensor" and "aten::add.Tensor".
std::string_view base_name(std::string_view op);

}  // namespace torch_npu::aicpu
