#pragma once
// What vector instructions compute, one element at a time in float64 or wide integers.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernel_operator.h"

namespace vector_reference {

template <typename T>
inline constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

// The type that the reference computes T with, exactly for sums and products.
template <typename T>
using Reference = std::conditional_t<is_real<T>, double, int64_t>;

template <typename T>
T narrow(Reference<T> value) {
  if constexpr (std::is_same_v<T, half>) {
    return static_cast<half>(value);  // one rounding
  } else {
    return static_cast<T>(value);
  }
}

// How many floating-point numbers of type T lie between the two; integers: their difference.
template <typename T>
double distance(T a, T b) {
  if constexpr (is_real<T>) {
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : INFINITY;
    if (x == y) return std::signbit(x) == std::signbit(y) || x != 0 ? 0 : 1;
    if (std::isinf(x) || std::isinf(y)) return INFINITY;
    constexpr int kDigits = std::is_same_v<T, half> ? 11 : std::is_same_v<T, bfloat16_t> ? 8 : 24;
    constexpr int kLeast = std::is_same_v<T, half> ? -13 : -125;
    int exponent;
    std::frexp(std::max(std::fabs(x), std::fabs(y)), &exponent);
    return std::fabs(x - y) / std::ldexp(1.0, std::max(exponent, kLeast) - kDigits);
  } else {
    return a == b ? 0 : INFINITY;
  }
}

// Values of all sizes, and now and then one that is special.
template <typename T>
std::vector<T> values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> created(count);
  for (T& value : created) {
    if constexpr (is_real<T>) {
      constexpr bool kIsBfloat16 = std::is_same_v<T, bfloat16_t>;
      constexpr double kMax = std::is_same_v<T, half> ? 65504 : kIsBfloat16 ? 0x1.fep127 : FLT_MAX;
      constexpr double kTiny = std::is_same_v<T, half> ? 0x1p-24 : kIsBfloat16 ? 0x1p-133 : 0x1p-149;
      const double specials[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, kMax, -kMax, kTiny, -kTiny, 0.5, 1.5};
      const double size =
          std::ldexp(std::uniform_real_distribution<>(0.5, 1)(random), std::uniform_int_distribution<>(-8, 8)(random));
      value = static_cast<T>(random() % 8 == 0   ? specials[random() % std::size(specials)]
                             : random() % 2 == 0 ? size
                                                 : -size);
    } else {
      constexpr T kSpecials[] = {T(0), T(1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(-1)};
      value = random() % 8 == 0 ? kSpecials[random() % 5] : static_cast<T>(random());
      // Not the high words alone: half of the wide numbers are ones that other types hold, too.
      if (sizeof(T) == 8 && random() % 2 == 0) value = static_cast<T>(uint64_t{random()} << 32 | random());
    }
  }
  return created;
}

}  // namespace vector_reference
