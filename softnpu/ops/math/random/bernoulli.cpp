#include "ops/math/random/bernoulli.h"

#include <cstring>

#include "base/round.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/random/bernoulli.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<uint32_t> kTag;
using Numbers = hn::Vec<decltype(kTag)>;

HWY_INLINE void store(Numbers ones, uint8_t* out) {
  const hn::Rebind<uint8_t, decltype(kTag)> bytes;
  const hn::Rebind<int32_t, decltype(kTag)> integers;
  hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(integers, ones)), bytes, out);
}

HWY_INLINE void store(Numbers ones, float* out) {
  const hn::Rebind<float, decltype(kTag)> floats;
  const hn::Rebind<int32_t, decltype(kTag)> integers;
  hn::StoreU(hn::ConvertTo(floats, hn::BitCast(integers, ones)), floats, out);
}

// Reads `numbers` in whole vectors; writes exactly `count` elements of `out`.
template <typename T>
HWY_INLINE void compare(const uint32_t* HWY_RESTRICT numbers, uint32_t below, size_t count, T* HWY_RESTRICT out) {
  const size_t lanes = hn::Lanes(kTag);
  const Numbers one = hn::Set(kTag, 1);
  const Numbers limit = hn::Set(kTag, below);
  const auto ones = [&](size_t i) HWY_ATTR { return hn::IfThenElseZero(hn::Load(kTag, numbers + i) < limit, one); };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) store(ones(i), out + i);
  if (i == count) return;
  HWY_ALIGN T rest[hn::MaxLanes(kTag)];
  store(ones(i), rest);
  std::memcpy(out + i, rest, (count - i) * sizeof(T));
}

template <typename T>
HWY_INLINE void draw(const Bernoulli& task, uint64_t first, uint64_t count, T* out) {
  constexpr uint64_t kBlocks = 256;  // 4 KiB of numbers per step
  HWY_ALIGN uint32_t numbers[kBlocks * kNumbersPerBlock];
  for (uint64_t done = 0; done < count; done += kBlocks * kNumbersPerBlock) {
    const uint64_t here = HWY_MIN(kBlocks * kNumbersPerBlock, count - done);
    task.sequence.fill(first + done / kNumbersPerBlock,
                       round_up(here, HWY_MAX(hn::Lanes(kTag), size_t{kNumbersPerBlock})) / kNumbersPerBlock, numbers);
    compare(numbers, static_cast<uint32_t>(task.below), here, out + done);
  }
}

void draw_bytes(const Bernoulli& task, uint64_t first, uint64_t count, uint8_t* out) { draw(task, first, count, out); }
void draw_floats(const Bernoulli& task, uint64_t first, uint64_t count, float* out) { draw(task, first, count, out); }

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace softnpu {
namespace {

HWY_EXPORT(draw_bytes);
HWY_EXPORT(draw_floats);

// No random numbers are needed if every element is 1: all 32-bit numbers are below 2^32.
bool all_ones(const Bernoulli& task) { return task.below > UINT32_MAX; }

}  // namespace

void Bernoulli::fill(uint64_t first, uint64_t count, uint8_t* out) const {
  if (all_ones(*this)) return void(std::fill_n(out, count, 1));
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(draw_bytes)(*this, first, count, out);
}

void Bernoulli::fill(uint64_t first, uint64_t count, float* out) const {
  if (all_ones(*this)) return void(std::fill_n(out, count, 1.0f));
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(draw_floats)(*this, first, count, out);
}

}  // namespace softnpu
#endif
