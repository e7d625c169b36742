#pragma once
// Conversions of numbers by the vector unit's rounding modes.

#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "softnpu_kernel/vector.h"

namespace softnpu::kernel {

// `value` as an integer. `long double` holds every element type's values exactly.
inline long double rounded(long double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kFloor: return std::floor(value);
    case Rounding::kCeil: return std::ceil(value);
    case Rounding::kRound: return std::round(value);  // halves away from zero
    case Rounding::kTrunc: return std::trunc(value);
    case Rounding::kNone:
    case Rounding::kRint: break;
  }
  return std::nearbyint(value);  // halves to the even integer
}

// A floating-point format: bits of the significand with the leading one, least exponent (of frexp) of normal numbers,
// largest value.
template <typename T>
struct Format;
template <>
struct Format<half> {
  static constexpr int digits = 11, least = -13;
  static constexpr long double largest = 65504;
};
template <>
struct Format<bfloat16_t> {
  static constexpr int digits = 8, least = FLT_MIN_EXP;
  static constexpr long double largest = 0x1.fep127L;
};
template <>
struct Format<float> {
  static constexpr int digits = FLT_MANT_DIG, least = FLT_MIN_EXP;
  static constexpr long double largest = FLT_MAX;
};

template <typename T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

// Floats overflow to infinity where they are rounded to nearest or away from zero. Integers saturate; NaN becomes 0.
template <typename To>
To converted(long double value, Rounding rounding) {
  if constexpr (is_floating<To>) {
    if (std::isnan(value) || std::isinf(value) || value == 0) return static_cast<To>(static_cast<float>(value));
    int exponent;
    std::frexp(value, &exponent);
    const int unit = std::max(exponent, Format<To>::least) - Format<To>::digits;
    const long double near = std::ldexp(rounded(std::ldexp(value, -unit), rounding), unit);
    if (std::fabs(near) > Format<To>::largest) {
      const bool inward = rounding == Rounding::kTrunc || (rounding == Rounding::kFloor && value > 0) ||
                          (rounding == Rounding::kCeil && value < 0);
      const long double end = inward ? Format<To>::largest : std::numeric_limits<long double>::infinity();
      return static_cast<To>(static_cast<float>(std::copysign(end, value)));
    }
    return static_cast<To>(static_cast<float>(near == 0 ? std::copysign(0.0L, value) : near));
  } else {
    if (std::isnan(value)) return 0;
    const long double whole = rounded(value, rounding);
    if (whole <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (whole >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  }
}

// The nearest integer of another type.
template <typename To, typename From>
To saturated(From value) {
  if (std::cmp_less_equal(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater_equal(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

}  // namespace softnpu::kernel
