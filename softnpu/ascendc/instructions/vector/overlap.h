#pragma once
// Destinations that share bytes with a source. The unit reads all of a repeat before it writes, one repeat behind the
// other: a destination may begin where the source begins, and may have what earlier repeats have read.

#include <string>
#include <vector>

#include "ascendc/instructions/vector/repeats.h"

namespace softnpu::kernel {

// The bytes of an operand, by repeats.
struct Footprint {
  struct Run {
    uint64_t repeat;
    uint64_t begin;
    uint64_t end;
  };
  uint64_t first = 0;  // the address of repeat 0
  uint64_t step = 0;   // of repeats, in bytes
  std::vector<Run> runs;
};

// The masked elements of an operand. What is behind its tensor is not its, but another report's.
Footprint footprint_of(const RepeatMask& mask, uint32_t repeats, const RepeatLayout& layout, const Memory& memory);

// What is wrong with an instruction that writes `destination` and reads `source`; empty: nothing.
std::string misuse_of_overlap(const Footprint& destination, const Footprint& source, const std::string& name);

}  // namespace softnpu::kernel
