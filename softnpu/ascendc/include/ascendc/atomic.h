#pragma once
// What copies to global memory do with what is there. Sources: its use in DrivingSDK and sgl-kernel-npu kernels.

#include <cstdint>
#include <type_traits>

#include "softnpu_kernel/core.h"

namespace AscendC {
namespace atomics {

template <typename T>
void set(softnpu::kernel::AtomicOperation operation) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
                    std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t>,
                "atomic copies take float, half, bfloat16, int8, int16 and int32");
  softnpu::kernel::current_block()->atomic = {operation, softnpu::kernel::data_type_of<T>()};
}

}  // namespace atomics

// From now on copies from local to global memory add their elements, of type T, to those that are there, or keep the
// larger or smaller ones. Other blocks may do so to the same elements at the same time.
template <typename T>
void SetAtomicAdd() {
  atomics::set<T>(softnpu::kernel::AtomicOperation::kAdd);
}
template <typename T>
void SetAtomicMax() {
  atomics::set<T>(softnpu::kernel::AtomicOperation::kMax);
}
template <typename T>
void SetAtomicMin() {
  atomics::set<T>(softnpu::kernel::AtomicOperation::kMin);
}
inline void SetAtomicNone() { softnpu::kernel::current_block()->atomic = {}; }

}  // namespace AscendC
