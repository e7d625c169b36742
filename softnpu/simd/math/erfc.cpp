// The complementary error function of float32 values.

#include <cmath>
#include <limits>
#include <numbers>

#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/math/erfc.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/math/double_lanes.h"
#include "simd/math/exp_log.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

// erfc(x) exp(x^2) for 0 <= x <= 10.3, a polynomial of 3 / (3 + x).
HWY_INLINE DoubleVector scaled_erfc(DoubleVector x) {
  constexpr double kTerms[] = {-2.898151500839216e-06, 0.18814827910314275, 0.18693179477950986,  0.18663912139768393,
                               0.10855115380617184,    0.3087904606492026,  -0.40541442387344545, 1.057698449945116,
                               -1.4439543502214227,    1.5479176052160453,  -1.1109354662769624,  0.4747388643494682,
                               -0.1096639318487611,    0.0105553411239468};
  return polynomial(doubles(3) / (x + doubles(3)), kTerms);
}

// exp(-x), 0 if x > 500.
HWY_INLINE DoubleVector decay(DoubleVector x) {
  return hn::IfThenZeroElse(x > doubles(500), exp_short(hn::Neg(bounded(x, 0, 500))));
}

// erfc(x); for negative x 2 - erfc(-x).
struct Erfc {
  static HWY_INLINE DoubleVector of(DoubleVector x) {
    const DoubleVector size = hn::Abs(x);
    const DoubleVector right = decay(x * x) * scaled_erfc(bounded(size, 0, 10.3));
    return hn::IfNegativeThenElse(x, doubles(2) - right, right);
  }
};

MathKernel kernel_for(MathFunction function) { return function == MathFunction::kErfc ? &float_map1<Erfc> : nullptr; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel_for);

}  // namespace

MathKernel erfc_kernel(MathFunction function) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(function);
}

}  // namespace softnpu
#endif
