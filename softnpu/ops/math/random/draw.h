#pragma once
// Fills a tensor with samples of a distribution, in memory order.

#include <functional>
#include <span>

#include "nnopbase/executor.h"
#include "ops/core/iterate/tiles.h"
#include "ops/math/random/source.h"

namespace softnpu {

// Converts random words to values: element i of the tile has the words from words[i * words_per_element] on. Words are
// available for a multiple of four elements. values[0] is the result, the others are the parameters.
using MakeValues = std::function<void(const uint32_t* words, void* const* values, size_t count)>;

struct Distribution {
  aclDataType as = ACL_FLOAT;     // type of the computation
  int64_t words_per_element = 1;  // 1, 2 or 4
  MakeValues make;
};

// `parameters` are broadcast to `out`.
Status plan_draw(const RandomSeed& seed, const aclTensor& out, std::span<const aclTensor* const> parameters,
                 Distribution distribution, Plan* plan);

// Evenly spaced numbers of the open interval (0, 1).
inline float open_unit(uint32_t word) {
  const float number = (static_cast<float>(word >> 8) + 0.5f) * 0x1p-24f;
  return number < 1 ? number : 1 - 0x1p-24f;  // the largest number rounds up to 1
}
inline double open_unit(uint64_t word) { return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52; }
// A number in [0, 1), with 53 bits.
inline double unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
inline uint64_t two_words(const uint32_t* words) { return words[0] | uint64_t{words[1]} << 32; }
// A number in [0, range); its bias is below range / 2^64.
inline uint64_t below(uint64_t word, uint64_t range) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * range >> 64);
}

}  // namespace softnpu
