#pragma once
// What an instruction costs its pipe, by the figures: cycles, and lines of global memory.

#include <cstdint>

#include "ascendc/sanitizer/touched.h"
#include "ascendc/timeline/figures.h"
#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::timeline {

struct Cost {
  uint32_t cycles = 0;
  uint64_t line_bytes = 0;  // of whole lines of global memory; 0: none is touched
};

// `touched`: what the instruction reads and writes.
Cost cost_of(const Instruction& instruction, check::Touched* touched, const Figures& figures);

}  // namespace softnpu::kernel::timeline
