#pragma once
// Copies of runs of a few elements: a call of a copy function for each takes longer than the elements.

#include <cstring>

#include "ops/core/element.h"
#include "ops/core/iterate/space.h"

namespace softnpu {

inline bool has_short_runs(const Space& space) {
  constexpr int64_t kLongest = 16;
  return space.size(space.dims() - 1) <= kLongest;
}

// Moves the elements [at, at + count) of an operand, `bytes` each, from its memory to `values`, which are contiguous;
// or back, if kWrites.
template <bool kWrites>
void move_short_runs(const Space& space, size_t operand, int64_t at, int64_t count, size_t bytes, char* values) {
  with_element(bytes, [&]<typename T>() {
    space.for_runs(operand, at, count, [&](char* address, ptrdiff_t stride, size_t here) {
      for (size_t i = 0; i < here; ++i, address += stride, values += sizeof(T)) {
        std::memcpy(kWrites ? address : values, kWrites ? values : address, sizeof(T));
      }
    });
  });
}

}  // namespace softnpu
