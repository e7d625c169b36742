#include "ops/nn/channel_mix/mix.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/channel_mix/mix.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A row's remainder is computed in a full vector too: every value is rounded identically.
template <typename T>
void mix_rows(std::span<const Weights> weights, const T* const (&in)[3], T* const* out, size_t count) {
  const hn::ScalableTag<T> tag;
  const size_t lanes = hn::Lanes(tag);
  const auto sum = [&](const T* red, const T* green, const T* blue, T* const(&to)[3]) {
    const auto r = hn::LoadU(tag, red);
    const auto g = hn::LoadU(tag, green);
    const auto b = hn::LoadU(tag, blue);
    for (size_t k = 0; k < weights.size(); ++k) {
      const auto weight = [&](size_t i) { return hn::Set(tag, static_cast<T>(weights[k][i])); };
      hn::StoreU(hn::MulAdd(weight(0), r, hn::MulAdd(weight(1), g, hn::Mul(weight(2), b))), tag, to[k]);
    }
  };
  const auto at = [&](size_t k, size_t i) { return k < weights.size() ? out[k] + i : nullptr; };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) sum(in[0] + i, in[1] + i, in[2] + i, {at(0, i), at(1, i), at(2, i)});
  if (i == count) return;
  HWY_ALIGN T ends[3][HWY_MAX_BYTES / sizeof(T)] = {};
  for (size_t k = 0; k < 3; ++k) {
    for (size_t j = i; j < count; ++j) ends[k][j - i] = in[k][j];
  }
  sum(ends[0], ends[1], ends[2], {ends[0], ends[1], ends[2]});
  for (size_t k = 0; k < weights.size(); ++k) {
    for (size_t j = i; j < count; ++j) out[k][j] = ends[k][j - i];
  }
}

void mix_f32(std::span<const Weights> weights, const float* const (&in)[3], float* const* out, size_t count) {
  mix_rows(weights, in, out, count);
}
void mix_f64(std::span<const Weights> weights, const double* const (&in)[3], double* const* out, size_t count) {
  mix_rows(weights, in, out, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(mix_f32);
HWY_EXPORT(mix_f64);
}  // namespace

void mix(std::span<const Weights> weights, const float* const (&in)[3], float* const* out, size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(mix_f32)(weights, in, out, count);
}

void mix(std::span<const Weights> weights, const double* const (&in)[3], double* const* out, size_t count) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(mix_f64)(weights, in, out, count);
}

}  // namespace softnpu
#endif
