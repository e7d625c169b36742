#include "ops/math/random/philox.h"

#include <algorithm>
#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/random/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void fill(const PhiloxSequence& sequence, uint64_t first, uint64_t blocks, uint32_t* out) {
  for (uint64_t i = 0; i < blocks; ++i, out += kNumbersPerBlock) {
    std::ranges::copy(sequence.block(first + i), out);
  }
}

#else

// One block per 64-bit lane: a product of two 32-bit words fills its lane. The upper half of a word is ignored until
// the end, since multiplications use the lower halves only.
using Tag = hn::ScalableTag<uint64_t>;
using Words = hn::Vec<Tag>;

HWY_INLINE Words multiply(Words a, uint64_t b) {
  const hn::Repartition<uint32_t, Tag> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, hn::Set(Tag(), b)));
}

HWY_INLINE Words mix(Words product, Words word, uint64_t key) {
  return hn::Xor(hn::Xor(hn::ShiftRight<32>(product), word), hn::Set(Tag(), key));
}

HWY_INLINE Words pair(Words low, Words high) {
  return hn::Or(hn::And(low, hn::Set(Tag(), 0xffffffff)), hn::ShiftLeft<32>(high));
}

// The keys of all rounds, which are the same for every block of a sequence.
struct Rounds {
  explicit Rounds(const PhiloxSequence& sequence) : offset(sequence.offset) {
    auto even = static_cast<uint32_t>(sequence.seed);
    auto odd = static_cast<uint32_t>(sequence.seed >> 32);
    for (int i = 0; i < kPhiloxRounds; ++i) {
      even_keys[i] = even;
      odd_keys[i] = odd;
      even += kPhiloxKeySteps[0];
      odd += kPhiloxKeySteps[1];
    }
  }

  uint64_t offset;
  uint64_t even_keys[kPhiloxRounds];
  uint64_t odd_keys[kPhiloxRounds];
};

// Computes the blocks with these indices. Each round depends on the preceding one; out-of-order execution overlaps it
// with the next call.
HWY_INLINE void store_blocks(const Rounds& rounds, Words index, uint32_t* out) {
  Words c0 = index;
  Words c1 = hn::ShiftRight<32>(index);
  Words c2 = hn::Set(Tag(), rounds.offset);
  Words c3 = hn::Set(Tag(), rounds.offset >> 32);
  for (int i = 0; i < kPhiloxRounds; ++i) {
    const Words p0 = multiply(c0, kPhiloxMultipliers[0]);
    const Words p1 = multiply(c2, kPhiloxMultipliers[1]);
    c0 = mix(p1, c1, rounds.even_keys[i]);
    c1 = p1;
    c2 = mix(p0, c3, rounds.odd_keys[i]);
    c3 = p0;
  }
  hn::StoreInterleaved2(pair(c0, c1), pair(c2, c3), Tag(), reinterpret_cast<uint64_t*>(out));
}

void fill(const PhiloxSequence& sequence, uint64_t first, uint64_t blocks, uint32_t* out) {
  const Rounds rounds(sequence);
  const size_t lanes = hn::Lanes(Tag());
  Words index = hn::Iota(Tag(), first);
  uint64_t done = 0;
  for (; done + lanes <= blocks; done += lanes) {
    store_blocks(rounds, index, out + done * kNumbersPerBlock);
    index = index + hn::Set(Tag(), lanes);
  }
  if (done == blocks) return;
  HWY_ALIGN uint32_t rest[kNumbersPerBlock * hn::MaxLanes(Tag())];
  store_blocks(rounds, index, rest);
  std::memcpy(out + done * kNumbersPerBlock, rest, (blocks - done) * sizeof(PhiloxBlock));
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(fill);
}  // namespace

void PhiloxSequence::fill(uint64_t first, uint64_t blocks, uint32_t* out) const {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(fill)(*this, first, blocks, out);
}

}  // namespace softnpu
#endif
