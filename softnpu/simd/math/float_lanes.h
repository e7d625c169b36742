// Loops over float32 values that compute in vectors of float32 where F::suits, and elsewhere by F::others or, without
// it, in vectors of doubles.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_SIMD_MATH_FLOAT_LANES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_SIMD_MATH_FLOAT_LANES_H_
#undef SOFTNPU_SIMD_MATH_FLOAT_LANES_H_
#else
#define SOFTNPU_SIMD_MATH_FLOAT_LANES_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <utility>

#include "simd/math/double_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {

using FullFloats = hn::ScalableTag<float>;
using FullFloatVector = hn::Vec<FullFloats>;

HWY_INLINE FullFloatVector floats(float value) { return hn::Set(FullFloats(), value); }

// One vector. A lane's result does not depend on its neighbours. `y` may be one of the inputs.
template <typename F, typename... P>
HWY_INLINE void put_near(float* y, const float* k, P... in) {
  constexpr FullFloats d;
  const auto suited = F::suits(k, hn::LoadU(d, in)...);
  const FullFloatVector near = F::near(k, hn::LoadU(d, in)...);
  if (HWY_LIKELY(hn::AllTrue(d, suited))) return hn::StoreU(near, d, y);
  if constexpr (requires { F::others(k, hn::LoadU(d, in)...); }) {
    hn::StoreU(hn::IfThenElse(suited, near, F::others(k, hn::LoadU(d, in)...)), d, y);
  } else {
    HWY_ALIGN float exact[hn::MaxLanes(d)];
    for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(Floats())) {
      hn::Store(rounded_of<F>(k, hn::LoadU(Floats(), in + i)...), Floats(), exact + i);
    }
    hn::StoreU(hn::IfThenElse(suited, near, hn::Load(d, exact)), d, y);
  }
}

// The loop over `kInputs` inputs. The remainder is computed in a full vector, too.
template <typename F, size_t... kInputs>
HWY_INLINE void near_map(float* y, const void* const* in, size_t count, const float* k,
                         std::index_sequence<kInputs...>) {
  const size_t lanes = hn::Lanes(FullFloats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) put_near<F>(y + i, k, static_cast<const float*>(in[kInputs]) + i...);
  if (i == count) return;
  HWY_ALIGN float last[sizeof...(kInputs)][hn::MaxLanes(FullFloats())] = {};
  for (size_t j = 0; i + j < count; ++j) ((last[kInputs][j] = static_cast<const float*>(in[kInputs])[i + j]), ...);
  put_near<F>(last[0], k, static_cast<const float*>(last[kInputs])...);
  for (size_t j = 0; i + j < count; ++j) y[i + j] = last[0][j];
}

template <typename F>
void near_map1(void* out, const void* const* in, size_t count, const void* constants) {
  near_map<F>(static_cast<float*>(out), in, count, static_cast<const float*>(constants), std::make_index_sequence<1>());
}
template <typename F>
void near_map2(void* out, const void* const* in, size_t count, const void* constants) {
  near_map<F>(static_cast<float*>(out), in, count, static_cast<const float*>(constants), std::make_index_sequence<2>());
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
