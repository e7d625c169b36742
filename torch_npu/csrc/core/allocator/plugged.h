#pragma once
// Allocation by the program's own functions (torch.npu.change_current_allocator).

#include <c10/core/Stream.h>

#include <cstddef>

namespace torch_npu::plugged {

// `bytes` > 0 for `stream`, by the current allocator. Throws c10::OutOfMemoryError if it returns null.
void* allocate(std::size_t bytes, c10::Stream stream);
// False if `address` is not from allocate().
bool release(void* address) noexcept;
bool is_live(void* address);

}  // namespace torch_npu::plugged
