#pragma once
// What a kernel prints, on the process's standard output; a call's text stays together. Sources: its use in DrivingSDK
// and sgl-kernel-npu kernels.

#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>

#include "ascendc/tensor.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

SOFTNPU_KERNEL_EXPORT void print(const char* text);
// Prints `count` elements under a heading with `number`, which the kernel chose, the block and the line.
SOFTNPU_KERNEL_EXPORT void print_elements(const void* elements, DataType type, uint32_t count, uint32_t number,
                                          const std::source_location& where);

}  // namespace softnpu::kernel

namespace AscendC {

// As C's printf.
template <typename... Arguments>
void PRINTF(const char* format, Arguments... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    softnpu::kernel::print(format);
  } else {
    const int length = std::snprintf(nullptr, 0, format, arguments...);
    std::string text(length < 0 ? 0 : static_cast<size_t>(length), '\0');
    std::snprintf(text.data(), text.size() + 1, format, arguments...);
    softnpu::kernel::print(text.c_str());
  }
}
template <typename... Arguments>
void printf(const char* format, Arguments... arguments) {
  PRINTF(format, arguments...);
}

// The first `count` elements, behind all that the block has issued.
template <typename Tensor>
void DumpTensor(const Tensor& tensor, uint32_t number, uint32_t count,
                const std::source_location& where = std::source_location::current()) {
  using T = typename Tensor::PrimType;
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  const auto memory = tensor.memory();
  softnpu::kernel::scalar_access(memory, uint64_t{count} * sizeof(T), false, where);
  softnpu::kernel::print_elements(memory.address, softnpu::kernel::data_type_of<T>(), count, number, where);
}
}  // namespace AscendC
