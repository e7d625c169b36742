#include "ascendc/instructions/copy/move.h"

#include <cstdint>
#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/copy/move.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLine = 64;
// How far ahead; two tiles of 4 KiB that a kernel reads in turn, and what it computes from them, stay in a first cache.
constexpr size_t kAhead = 4096;

template <bool kPrefetches>
void move(void* to, const void* from, size_t bytes) {
  const hn::CappedTag<uint8_t, kLine> d;
  const size_t step = hn::Lanes(d);
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  size_t i = 0;
  for (; i + kLine <= bytes; i += kLine) {
    if constexpr (kPrefetches) hwy::Prefetch(in + i + kAhead);
    for (size_t j = i; j < i + kLine; j += step) hn::StoreU(hn::LoadU(d, in + j), d, out + j);
  }
  std::memcpy(out + i, in + i, bytes - i);
}

MoveBytes plain() { return &move<false>; }
MoveBytes ahead() { return &move<true>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {

HWY_EXPORT(plain);
HWY_EXPORT(ahead);

}  // namespace

MoveBytes move_bytes() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(plain)();
}

MoveBytes move_bytes_ahead() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(ahead)();
}

}  // namespace softnpu::kernel
#endif
