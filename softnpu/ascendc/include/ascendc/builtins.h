#pragma once
// Functions that kernels call without naming a namespace, since the compiler of the real toolchain has them built in.
// Sources: their use in DrivingSDK kernels.

#include <math.h>    // NOLINT(modernize-deprecated-headers): for names outside of std, abs(float) among them
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers)

#include <cstdint>
#include <type_traits>

// The smaller and the larger of two numbers, in their common type.
template <typename A, typename B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  const std::common_type_t<A, B> left = a;
  const std::common_type_t<A, B> right = b;
  return right < left ? right : left;
}
template <typename A, typename B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  const std::common_type_t<A, B> left = a;
  const std::common_type_t<A, B> right = b;
  return left < right ? right : left;
}

// `value` with bit `position` 0, and 1.
constexpr std::uint64_t sbitset0(std::uint64_t value, std::int64_t position) {
  return value & ~(std::uint64_t{1} << position);
}
constexpr std::uint64_t sbitset1(std::uint64_t value, std::int64_t position) {
  return value | std::uint64_t{1} << position;
}

// What a condition most often is.
constexpr bool likely(bool condition) { return __builtin_expect(condition, true); }
constexpr bool unlikely(bool condition) { return __builtin_expect(condition, false); }
