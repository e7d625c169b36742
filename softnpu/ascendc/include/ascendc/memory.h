#pragma once
// Global memory: its initial values, and the caches before it. Sources: its use in DrivingSDK and sgl-kernel-npu
// kernels.

#include <cstdint>
#include <source_location>

#include "ascendc/sync.h"
#include "ascendc/tensor.h"

namespace AscendC {

// Sets `count` elements to `value`, behind all that the block has issued and before all that it issues next.
template <typename T>
void InitGlobalMemory(GlobalTensor<T>& tensor, uint64_t count, T value,
                      const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  for (uint64_t i = 0; i < count; ++i) tensor.SetValue(i, value, where);
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
}
template <typename T>
void InitOutput(GlobalTensor<T> tensor, uint32_t count, T value = T(0),
                const std::source_location& where = std::source_location::current()) {
  InitGlobalMemory(tensor, count, value, where);
}

enum class CacheLine : uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint8_t { CACHELINE_OUT };
enum class CacheMode : uint8_t { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL };

// The scalar unit's cache: there is none here, what it writes is in global memory at once.
template <typename T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_OUT>
void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace AscendC
