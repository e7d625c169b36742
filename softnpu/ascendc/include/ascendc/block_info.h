#pragma once
// What a block knows of itself and its launch. Sources: its use in Ascend/samples, DrivingSDK and sgl-kernel-npu
// kernels.

#include <cstdint>

#include "ascendc/qualifiers.h"
#include "softnpu_kernel/core.h"

namespace AscendC {

// A kernel for both kinds of cores is launched for GetBlockNum() cube cores. Vector cores and cube cores are counted
// for themselves: there are GetTaskRation() times as many vector cores.
inline int64_t GetBlockIdx() { return softnpu::kernel::current_block()->index; }
inline int64_t GetBlockNum() { return softnpu::kernel::current_block()->count; }
inline int64_t GetTaskRation() { return softnpu::kernel::current_block()->vector_cores; }

// The kinds of cores.
inline constexpr int AIC = 1;
inline constexpr int AIV = 2;
struct CoreType {
  operator int() const {  // implicit: kernels compare it
    return softnpu::kernel::current_block()->kind == softnpu::kernel::CoreKind::kCube ? AIC : AIV;
  }
};
inline constexpr CoreType g_coreType;

// Which of its cube core's vector cores a block is, and how many there are.
inline int64_t GetSubBlockIdx() { return g_coreType == AIC ? 0 : GetBlockIdx() % GetTaskRation(); }
inline int64_t GetSubBlockNum() { return GetTaskRation(); }

// The memory that the launch gives to the kernel beside its arguments. The system's part is apart from it: what
// GetSysWorkSpacePtr() returns is never null, and 0 bytes of it are the kernel's.
inline void SetSysWorkspace(GM_ADDR workspace) { softnpu::kernel::current_block()->workspace = workspace; }
inline GM_ADDR GetSysWorkSpacePtr() { return softnpu::kernel::current_block()->workspace; }
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace; }

}  // namespace AscendC

#define ASCEND_IS_AIV (::AscendC::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC (::AscendC::g_coreType == ::AscendC::AIC)
