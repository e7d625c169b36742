#pragma once
// Tensors whose elements share memory (expanded ones) may have more elements than memory has bytes. CPU kernels take
// temporaries for each element, from malloc, where no limit of the device sees them.

#include <ATen/core/Tensor.h>

namespace torch_npu::aicpu {

// While it lives, and until it or the thread's KernelScope ends, memory reserved by reserve_temporaries() stays
// reserved.
class TemporariesScope {
 public:
  TemporariesScope() = default;
  TemporariesScope(const TemporariesScope&) = delete;
  TemporariesScope& operator=(const TemporariesScope&) = delete;
  ~TemporariesScope() { release_temporaries(); }

  static void release_temporaries() noexcept;
};

void reserve_many(const char* op, c10::DeviceIndex device, const at::Tensor& tensor);

// For each dense argument, before the kernel of `op` ("add.Tensor" or "aten::add") runs: allocates what its temporaries
// may take for elements that no argument stores from the cache of `device`, whose limits count it; nothing for
// operators that take no temporaries. Throws c10::OutOfMemoryError.
inline void reserve_temporaries(const char* op, c10::DeviceIndex device, const at::Tensor& tensor) {
  constexpr int64_t kMany = int64_t{1} << 24;
  if (C10_UNLIKELY(tensor.numel() >= kMany)) reserve_many(op, device, tensor);
}

}  // namespace torch_npu::aicpu
