#pragma once
// What orders the pipes of a core, and the blocks of a launch. Sources: its use in DrivingSDK and sgl-kernel-npu
// kernels.

#include <cstdint>
#include <source_location>

#include "ascendc/tensor.h"
#include "ascendc/types.h"
#include "softnpu_kernel/events.h"

// `event`: 0 to 7. What `from` was given before the flag is done when `to` goes on behind the wait.
inline void set_flag(pipe_t from, pipe_t to, int event,
                     const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::set_flag(softnpu::kernel::pipe_of(from), softnpu::kernel::pipe_of(to), event, where);
}
inline void wait_flag(pipe_t from, pipe_t to, int event,
                      const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::wait_flag(softnpu::kernel::pipe_of(from), softnpu::kernel::pipe_of(to), event, where);
}
inline void pipe_barrier(pipe_t pipe, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::barrier(
      pipe == PIPE_ALL ? softnpu::kernel::kAllPipes : static_cast<int>(softnpu::kernel::pipe_of(pipe)), where);
}

namespace AscendC {

template <HardEvent event>
void SetFlag(int32_t id, const std::source_location& where = std::source_location::current()) {
  constexpr auto kPipes = softnpu::kernel::pipes_of(event);
  softnpu::kernel::set_flag(kPipes.from, kPipes.to, id, where);
}
template <HardEvent event>
void WaitFlag(int32_t id, const std::source_location& where = std::source_location::current()) {
  constexpr auto kPipes = softnpu::kernel::pipes_of(event);
  softnpu::kernel::wait_flag(kPipes.from, kPipes.to, id, where);
}
template <pipe_t pipe>
void PipeBarrier(const std::source_location& where = std::source_location::current()) {
  pipe_barrier(pipe, where);
}

// Waits for all blocks of the launch, and for what each has written before; with `is_aiv_only` for those of vector
// cores.
template <bool is_aiv_only = true>
void SyncAll(const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  if constexpr (is_aiv_only)
    softnpu::kernel::sync_all(where);
  else
    softnpu::kernel::sync_all_cores(where);
}
// The form with counters in memory. They stay as they are: blocks wait for each other as in the other form.
// `used_cores`: 0 for all blocks; another number has to be that of the blocks.
template <bool is_aiv_only = true>
void SyncAll(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t used_cores = 0,
             const std::source_location& where = std::source_location::current()) {
  if (used_cores != 0 && used_cores != static_cast<int32_t>(softnpu::kernel::current_block()->count))
    softnpu::kernel::fail("SyncAll of some of the blocks is not implemented: usedCores has to be GetBlockNum()", where);
  SyncAll<is_aiv_only>(where);
}

// Flags between a cube core and its vector cores, 0 to 15. Mode 2: the cube core waits for all its vector cores, and
// its flag is for all of them. Mode 4: for one of them, the cube core's flags 16 to 31 are those of the second. Of
// waits without a mode it is 2. What all pipes were given before, `pipe` among them, is done.
template <uint8_t mode, pipe_t pipe>
void CrossCoreSetFlag(uint16_t flag, const std::source_location& where = std::source_location::current()) {
  static_assert(mode == 2 || mode == 4, "CrossCoreSetFlag: mode 2 or 4");
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  softnpu::kernel::cross_core_set(flag, mode == 4, where);
}
template <uint8_t mode = 2>
void CrossCoreWaitFlag(uint16_t flag, const std::source_location& where = std::source_location::current()) {
  static_assert(mode == 2 || mode == 4, "CrossCoreWaitFlag: mode 2 or 4");
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  softnpu::kernel::cross_core_wait(flag, mode == 4, where);
}

// Block `block` gives the signal `event`; one IBWait for it goes on. The workspaces stay as they are.
template <bool is_aiv_only = true>
void IBSet(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t block, int32_t event,
           const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  softnpu::kernel::inter_block_set(static_cast<uint32_t>(block), static_cast<uint32_t>(event), where);
}
template <bool is_aiv_only = true>
void IBWait(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t block, int32_t event,
            const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  softnpu::kernel::inter_block_wait(static_cast<uint32_t>(block), static_cast<uint32_t>(event), where);
}

}  // namespace AscendC
