#include "simd/fill.h"

#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/fill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void fill_vectors(void* to, size_t bytes, const FillPattern& pattern) {
  const hn::ScalableTag<uint8_t> d;
  const size_t step = hn::Lanes(d);
  auto* out = static_cast<uint8_t*>(to);
  size_t at = 0;
  if (bytes >= step && step % pattern.size() == 0) {
    const auto value = hn::LoadDup128(d, reinterpret_cast<const uint8_t*>(pattern.data()));
    for (; at + 4 * step <= bytes; at += 4 * step) {
      for (size_t i = 0; i < 4; ++i) hn::StoreU(value, d, out + at + i * step);
    }
    for (; at + step <= bytes; at += step) hn::StoreU(value, d, out + at);
  }
  for (; at < bytes; at += pattern.size()) {
    std::memcpy(out + at, pattern.data(), HWY_MIN(pattern.size(), bytes - at));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(fill_vectors);

}  // namespace

void fill_pattern(void* to, size_t bytes, const FillPattern& pattern) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(fill_vectors)(to, bytes, pattern);
}

}  // namespace softnpu
#endif
