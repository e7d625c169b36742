#pragma once
// How vector instructions count: in blocks of local memory, in repeats of 8 of them, and which elements take part.

#include <cstdint>

namespace softnpu::kernel {

inline constexpr uint32_t kBlockBytes = 32;    // what local memory is divided into
inline constexpr uint32_t kRepeatBytes = 256;  // of a repeat's widest operand

// Which elements of each repeat an instruction works on.
struct RepeatMask {
  uint64_t bits[2];   // bit i: element i of each repeat
  uint64_t elements;  // not 0: so many elements, from the first on, of all repeats together
};

}  // namespace softnpu::kernel
