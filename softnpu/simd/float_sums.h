// Sums of float32 terms in float64 whose first three levels are in float32.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_OPS_SIMD_FLOAT_SUMS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_OPS_SIMD_FLOAT_SUMS_H_
#undef SOFTNPU_OPS_SIMD_FLOAT_SUMS_H_
#else
#define SOFTNPU_OPS_SIMD_FLOAT_SUMS_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The values that sum_of_eights takes at a time.
HWY_INLINE size_t eight_vectors() { return 8 * hn::Lanes(hn::ScalableTag<float>()); }

// The halves of a float32 vector in float64; a vector of one lane has no upper half.
HWY_INLINE auto lower_half(hn::Vec<hn::ScalableTag<float>> v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(hn::ScalableTag<double>(), v);
#else
  return hn::PromoteTo(hn::ScalableTag<double>(), hn::LowerHalf(v));
#endif
}
HWY_INLINE auto upper_half([[maybe_unused]] hn::Vec<hn::ScalableTag<float>> v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Zero(hn::ScalableTag<double>());
#else
  return hn::PromoteTo(hn::ScalableTag<double>(), hn::UpperHalf(hn::Half<hn::ScalableTag<float>>(), v));
#endif
}

// The sum of term(d, i), vectors of float32, over [0, count); `count` is a multiple of eight_vectors(). Sums of eight
// are rounded thrice in float32. Not finite if one of them is not.
template <typename Term>
HWY_INLINE double sum_of_eights(size_t count, Term&& term) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<double> widened;
  const size_t n = hn::Lanes(d);
  auto low = hn::Zero(widened);
  auto high = hn::Zero(widened);
  for (size_t i = 0; i < count; i += 8 * n) {
    const auto first = hn::Add(hn::Add(term(d, i), term(d, i + n)), hn::Add(term(d, i + 2 * n), term(d, i + 3 * n)));
    const auto second =
        hn::Add(hn::Add(term(d, i + 4 * n), term(d, i + 5 * n)), hn::Add(term(d, i + 6 * n), term(d, i + 7 * n)));
    const auto sum = hn::Add(first, second);
    low = hn::Add(low, lower_half(sum));
    high = hn::Add(high, upper_half(sum));
  }
  return hn::GetLane(hn::SumOfLanes(widened, hn::Add(low, high)));
}

// Sets the sum of the first terms that sum_of_eights can take, and returns their number; none, if trusted(sum) is
// false.
template <typename Term, typename Trust>
HWY_INLINE size_t sum_trusted_eights(size_t count, Term&& term, Trust&& trusted, double* sum) {
  const size_t eights = count - count % eight_vectors();
  *sum = sum_of_eights(eights, term);
  if (trusted(*sum)) return eights;
  *sum = 0;
  return 0;
}

// Whether a sum in float32 is as good as one in float64: it did not overflow.
HWY_INLINE bool is_sum_exact_enough(double sum) { return std::isfinite(sum); }

// Whether a sum of products in float32, by its magnitude, is as good as one in float64: none was infinite, nor were all
// so small that they lost digits.
HWY_INLINE bool are_products_exact_enough(double sum) { return sum > 1e-25 && sum < 1e35; }

// Sets the sum of (v - mean)^2 over values with that mean; false if float32 is too narrow for it.
HWY_INLINE bool sum_squared_distances(const float* HWY_RESTRICT v, size_t count, double mean, double* sum) {
  const auto center = static_cast<float>(mean);
  const size_t eights = count - count % eight_vectors();
  double squares = sum_of_eights(eights, [=](auto d, size_t i) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, v + i), hn::Set(d, center));
    return hn::Mul(distance, distance);
  });
  if (!are_products_exact_enough(squares)) return false;
  for (size_t i = eights; i < count; ++i) {
    const double distance = static_cast<double>(v[i]) - static_cast<double>(center);
    squares += distance * distance;
  }
  const double shift = mean - static_cast<double>(center);
  *sum = squares - static_cast<double>(count) * shift * shift;
  return *sum >= 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
