#pragma once
// Philox4x32-10: a block of four numbers for each (seed, offset, index), so that any thread can compute any part. J.
// Salmon, M. Moraes, R. Dror, D. Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace softnpu {

using PhiloxBlock = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr size_t kNumbersPerBlock = std::tuple_size_v<PhiloxBlock>;
constexpr int kPhiloxRounds = 10;
constexpr PhiloxKey kPhiloxMultipliers = {0xD2511F53, 0xCD9E8D57};
constexpr PhiloxKey kPhiloxKeySteps = {0x9E3779B9, 0xBB67AE85};

// The definition, for one block.
inline PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t p0 = uint64_t{kPhiloxMultipliers[0]} * counter[0];
    const uint64_t p1 = uint64_t{kPhiloxMultipliers[1]} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += kPhiloxKeySteps[0];
    key[1] += kPhiloxKeySteps[1];
  }
  return counter;
}

// The random numbers of one call of an operator.
struct PhiloxSequence {
  uint64_t seed = 0;
  uint64_t offset = 0;

  // The numbers 4 * index to 4 * index + 3.
  PhiloxBlock block(uint64_t index) const {
    return philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(offset),
                   static_cast<uint32_t>(offset >> 32)},
                  {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  }

  // Writes the numbers of `blocks` blocks from block `first` on, with the machine's vector instructions.
  void fill(uint64_t first, uint64_t blocks, uint32_t* out) const;
};

}  // namespace softnpu
