#pragma once
// Storages that get a part of another one's memory.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace torch_npu {

// The storage of `dst`, with all views on it, gets the memory of `src` from its element `index` on. Values are not
// copied. No other thread may use `dst` meanwhile. Throws unless both are of one npu and one dtype and `dst` fits.
void change_data_ptr(const at::Tensor& dst, const at::Tensor& src, int64_t index);

}  // namespace torch_npu
