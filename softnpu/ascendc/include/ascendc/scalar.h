#pragma once
// What the scalar unit computes, and constants of the core. Sources: their use in DrivingSDK and sgl-kernel-npu
// kernels.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "softnpu_kernel/core.h"

namespace AscendC {

// Bytes of a block of local memory; of what a vector instruction takes in one repeat; repeats of one instruction; bytes
// of the innermost dimension of a cube core's layouts.
inline constexpr int32_t ONE_BLK_SIZE = 32;
inline constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
inline constexpr int32_t MAX_REPEAT_TIMES = 255;
inline constexpr int32_t DEFAULT_C0_SIZE = 32;

inline constexpr int32_t B32_BYTE_SIZE = 4;
inline constexpr int32_t B32_DATA_NUM_PER_BLOCK = 8;
inline constexpr int32_t B32_DATA_NUM_PER_REPEAT = 64;
inline constexpr int32_t ONE_REPEAT_FLOAT_SIZE = 64;
inline constexpr uint64_t FULL_MASK = ~uint64_t{0};
inline constexpr int32_t BRCB_BROADCAST_NUMBER = 8;  // elements of a repeat of Brcb
inline constexpr int32_t TWO = 2;
inline constexpr float PI = 3.14159265F;

// Whole numbers: a / b rounded up, and the smallest multiple of b that is not below a. 0 where b is 0.
template <typename A, typename B>
requires std::is_integral_v<A> && std::is_integral_v<B>
constexpr std::common_type_t<A, B> Ceil(A a, B b) {
  using T = std::common_type_t<A, B>;
  return b == 0 ? T(0) : T((T(a) + T(b) - 1) / T(b));
}
template <typename A, typename B>
requires std::is_integral_v<A> && std::is_integral_v<B>
constexpr std::common_type_t<A, B> DivCeil(A a, B b) { return Ceil(a, b); }
template <typename A, typename B>
requires std::is_integral_v<A> && std::is_integral_v<B>
constexpr std::common_type_t<A, B> AlignUp(A a, B b) { return static_cast<std::common_type_t<A, B>>(Ceil(a, b) * b); }

template <typename A, typename B>
struct IsSameType {
  static constexpr bool value = std::is_same_v<A, B>;
};

// `value` rounded by CAST_RINT (ties to even), CAST_FLOOR, CAST_CEIL, CAST_ROUND (ties away from zero) or CAST_TRUNC.
// What To cannot hold becomes its nearest value; NaN becomes 0.
template <typename From, typename To, auto mode>
To ScalarCast(From value) {
  using Mode = decltype(mode);
  const auto widened = static_cast<double>(static_cast<float>(value));
  double rounded = widened;
  if constexpr (std::is_integral_v<To>) {
    if constexpr (mode == Mode::CAST_FLOOR)
      rounded = std::floor(widened);
    else if constexpr (mode == Mode::CAST_CEIL)
      rounded = std::ceil(widened);
    else if constexpr (mode == Mode::CAST_ROUND)
      rounded = std::round(widened);
    else if constexpr (mode == Mode::CAST_TRUNC)
      rounded = std::trunc(widened);
    else
      rounded = std::nearbyint(widened);
    if (rounded != rounded) return 0;
    if (rounded <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(rounded);
}

// How many bits of `value` are `bit`.
template <int bit>
int64_t ScalarGetCountOfValue(uint64_t value) {
  return std::popcount(bit == 1 ? value : ~value);
}
// The lowest position of a bit that is `bit`; -1 if there is none.
template <int bit>
int64_t ScalarGetSFFValue(uint64_t value) {
  const uint64_t wanted = bit == 1 ? value : ~value;
  return wanted == 0 ? -1 : std::countr_zero(wanted);
}

struct AscendCUtils {
  static constexpr int32_t GetBitSize(int32_t bytes) { return bytes * 8; }
};

}  // namespace AscendC

// Ends the kernel with an error where `condition` is false.
#define ASSERT(condition)             \
  ((condition) ? static_cast<void>(0) \
               : ::softnpu::kernel::fail("ASSERT(" #condition ") failed", ::std::source_location::current()))
