#pragma once
// What a block knows of itself and its launch. Sources: its use in Ascend/samples, DrivingSDK and sgl-kernel-npu
// kernels.

#include <cstdint>

#include "ascendc/qualifiers.h"
#include "softnpu_kernel/core.h"

namespace AscendC {

inline int64_t GetBlockIdx() { return softnpu::kernel::current_block()->index; }
inline int64_t GetBlockNum() { return softnpu::kernel::current_block()->count; }
// Vector cores belong to no cube core here: each block has one.
inline int64_t GetSubBlockIdx() { return 0; }
inline int64_t GetSubBlockNum() { return 1; }

// The kinds of cores. Blocks are vector cores.
inline constexpr int AIC = 1;
inline constexpr int AIV = 2;
inline constexpr int g_coreType = AIV;

// The memory that the launch gives to the kernel beside its arguments. The system's part is apart from it: what
// GetSysWorkSpacePtr() returns is never null, and 0 bytes of it are the kernel's.
inline void SetSysWorkspace(GM_ADDR workspace) { softnpu::kernel::current_block()->workspace = workspace; }
inline GM_ADDR GetSysWorkSpacePtr() { return softnpu::kernel::current_block()->workspace; }
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace; }

}  // namespace AscendC

#define ASCEND_IS_AIV constexpr(::AscendC::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC constexpr(::AscendC::g_coreType == ::AscendC::AIC)
