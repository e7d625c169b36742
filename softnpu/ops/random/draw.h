#pragma once
// A distribution drawn into a tensor, element by element of its memory.

#include <functional>
#include <span>

#include "nnopbase/executor.h"
#include "ops/iterate/tiles.h"
#include "ops/random/source.h"

namespace softnpu {

// Turns random words into values: element i of the tile has words[i * words_per_element] and on; those of four elements
// from a multiple of four on are there in any case. values[0] is the result, the others are the parameters.
using MakeValues = std::function<void(const uint32_t* words, void* const* values, size_t count)>;

struct Distribution {
  aclDataType as = ACL_FLOAT;     // what values and parameters are computed as
  int64_t words_per_element = 1;  // 1, 2 or 4
  MakeValues make;
};

// `parameters` are broadcast to `out`.
Status plan_draw(const RandomSeed& seed, const aclTensor& out, std::span<const aclTensor* const> parameters,
                 Distribution distribution, Plan* plan);

// Numbers of the open interval (0, 1), evenly spaced.
inline float open_unit(uint32_t word) {
  const float number = (static_cast<float>(word >> 8) + 0.5f) * 0x1p-24f;
  return number < 1 ? number : 1 - 0x1p-24f;  // adding a half rounds up at the end
}
inline double open_unit(uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }
// Of [0, 1), with 53 bits.
inline double unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
inline uint64_t two_words(const uint32_t* words) { return words[0] | uint64_t{words[1]} << 32; }
// Of [0, range); the bias is below range / 2^64.
inline uint64_t below(uint64_t word, uint64_t range) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * range >> 64);
}

}  // namespace softnpu
