#pragma once

#include <cstdint>

#include "ops/math/random/philox.h"

namespace softnpu {

// Zeros and ones: element i is 1 if number i of the sequence is less than `below`, of 2^32.
struct Bernoulli {
  PhiloxSequence sequence;
  uint64_t below = 0;

  // Writes the elements 4 * first to 4 * first + count - 1.
  void fill(uint64_t first, uint64_t count, uint8_t* out) const;
  void fill(uint64_t first, uint64_t count, float* out) const;
};

}  // namespace softnpu
