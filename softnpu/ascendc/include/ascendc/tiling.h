#pragma once
// The kernel's side of tiling: how it reads the structure that the host filled in, and which variant it is. Sources:
// its use in Ascend/samples, DrivingSDK and sgl-kernel-npu kernels.

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "ascendc/qualifiers.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

// The structure at `tiling`, which is in global memory.
template <typename T>
T tiling_of(const void* tiling, const std::source_location& where = std::source_location::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "a tiling structure is plain data");
  if (tiling == nullptr) fail("the kernel's tiling argument is null", where);
  last_action.name = "GET_TILING_DATA";
  last_action.where = where;
  if (is_checked) [[unlikely]]
    scalar_access_checked({const_cast<void*>(tiling), sizeof(T)}, sizeof(T), false, where);
  std::remove_const_t<T> value;
  std::memcpy(static_cast<void*>(&value), tiling, sizeof(value));
  return value;
}

// Which cores a kernel is for: vector cores, or cube cores with one or two vector cores each.
enum class TaskType : uint8_t { KERNEL_TYPE_AIV_ONLY, KERNEL_TYPE_MIX_AIC_1_1, KERNEL_TYPE_MIX_AIC_1_2 };
inline void use_cores(TaskType type, const std::source_location& where = std::source_location::current()) {
  if (type == TaskType::KERNEL_TYPE_AIV_ONLY) return;
  use_both_cores(type == TaskType::KERNEL_TYPE_MIX_AIC_1_1 ? 1 : 2, where);
}

}  // namespace softnpu::kernel

// Defines `name` as a copy of the structure at `tiling`. The compiler driver defines SOFTNPU_TILING_DATA as the
// structure that the host registered for the kernel.
#define GET_TILING_DATA_WITH_STRUCT(type, name, tiling) type name = ::softnpu::kernel::tiling_of<type>(tiling)
#ifndef GET_TILING_DATA
#define GET_TILING_DATA(name, tiling) GET_TILING_DATA_WITH_STRUCT(SOFTNPU_TILING_DATA, name, tiling)
#endif

// Whether the launch chose variant `key`.
#define TILING_KEY_IS(key) (::softnpu::kernel::current_block()->tiling_key == static_cast<uint64_t>(key))

#define KERNEL_TASK_TYPE_DEFAULT(type) ::softnpu::kernel::use_cores(::softnpu::kernel::TaskType::type)
