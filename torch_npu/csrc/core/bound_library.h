#pragma once
// Libraries of the bound CANN beside its runtime.

namespace torch_npu {

// A library by its file name: the loaded one, else that in the runtime's folder; null if there is none. Never closed.
void* bound_library(const char* name) noexcept;

}  // namespace torch_npu
