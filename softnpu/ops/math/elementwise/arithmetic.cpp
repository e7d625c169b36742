// Functions of a few instructions: the compiler vectorises them.

#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ops/math/elementwise/map_op.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/elementwise/arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/math/elementwise/loop.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
HWY_INLINE T truth(bool value) {
  return value ? T(1) : T(0);
}

template <Number T>
HWY_INLINE bool is_nan([[maybe_unused]] T x) {
  if constexpr (Real<T>) {
    return x != x;
  } else {
    return false;
  }
}

// NaN if either is NaN. The comparison alone is one instruction, which returns b if there is a NaN.
template <Number T>
HWY_INLINE T larger(T a, T b) {
  const T most = a > b ? a : b;
  return is_nan(a) ? a : most;
}
template <Number T>
HWY_INLINE T smaller(T a, T b) {
  const T least = a < b ? a : b;
  return is_nan(a) ? a : least;
}

template <Number T>
HWY_INLINE T magnitude(T x) {
  if constexpr (Real<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? -x : x;
  } else {
    return x;
  }
}

struct Identity {
  static HWY_INLINE auto of(Number auto a, const auto*) { return a; }
};
struct Abs {
  static HWY_INLINE auto of(Number auto a, const auto*) { return magnitude(a); }
};
struct Neg {
  static HWY_INLINE auto of(Number auto a, const auto*) { return static_cast<decltype(a)>(-a); }
};
struct Sign {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    return truth<T>(a > T(0)) - truth<T>(a < T(0));
  }
};
struct Square {
  static HWY_INLINE auto of(Number auto a, const auto*) { return a * a; }
};
struct Cube {
  static HWY_INLINE auto of(Number auto a, const auto*) { return a * a * a; }
};
struct Reciprocal {
  static HWY_INLINE auto of(Real auto a, const auto*) { return 1 / a; }
};
struct ReciprocalSquare {
  static HWY_INLINE auto of(Real auto a, const auto*) { return 1 / (a * a); }
};
struct Relu {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    return a > T(0) || is_nan(a) ? a : T(0);
  }
};
struct Ceil {
  static HWY_INLINE auto of(Real auto a, const auto*) { return std::ceil(a); }
  static HWY_INLINE auto of(Integer auto a, const auto*) { return a; }
};
struct Floor {
  static HWY_INLINE auto of(Real auto a, const auto*) { return std::floor(a); }
  static HWY_INLINE auto of(Integer auto a, const auto*) { return a; }
};
struct Trunc {
  static HWY_INLINE auto of(Real auto a, const auto*) { return std::trunc(a); }
  static HWY_INLINE auto of(Integer auto a, const auto*) { return a; }
};
struct Round {
  static HWY_INLINE auto of(Real auto a, const auto*) { return std::nearbyint(a); }
  static HWY_INLINE auto of(Integer auto a, const auto*) { return a; }
};
struct RoundDecimals {
  template <Real T>
  static HWY_INLINE T of(T a, const T* k) {
    return k[1] != 0 ? std::nearbyint(a / k[0]) * k[0] : std::nearbyint(a * k[0]) / k[0];
  }
};
struct Frac {
  static HWY_INLINE auto of(Real auto a, const auto*) { return a - std::trunc(a); }
};
struct BitwiseNot {
  static HWY_INLINE auto of(Integer auto a, const auto*) { return static_cast<decltype(a)>(~a); }
};
struct LogicalNot {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    return truth<T>(a == T(0));
  }
};
struct IsFinite {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    if constexpr (Real<T>) return truth<T>(magnitude(a) <= std::numeric_limits<T>::max());
    return T(1);
  }
};
struct IsPosInf {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    return truth<T>(Real<T> && a > std::numeric_limits<T>::max());
  }
};
struct IsNegInf {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    return truth<T>(Real<T> && a < std::numeric_limits<T>::lowest());
  }
};
struct Signbit {
  template <Number T>
  static HWY_INLINE T of(T a, const T*) {
    if constexpr (Real<T>) return truth<T>(std::signbit(a));
    return truth<T>(a < T(0));
  }
};
struct Threshold {
  template <Number T>
  static HWY_INLINE T of(T a, const T* k) {
    return a <= k[0] ? k[1] : a;
  }
};
struct ClampMin {
  template <Number T>
  static HWY_INLINE T of(T a, const T* k) {
    return larger(a, k[0]);
  }
};
struct ClampMax {
  template <Number T>
  static HWY_INLINE T of(T a, const T* k) {
    return smaller(a, k[0]);
  }
};
struct Clamp {
  template <Number T>
  static HWY_INLINE T of(T a, const T* k) {
    const T most = is_nan(k[0]) ? k[0] : k[1];
    const T above = a > k[0] ? a : k[0];
    const T between = above < most ? above : most;
    return is_nan(a) ? a : between;
  }
};
struct LeakyRelu {
  template <Real T>
  static HWY_INLINE T of(T a, const T* k) {
    return a > 0 ? a : a * k[0];
  }
};
// In this order NaN stays NaN.
template <Real T>
HWY_INLINE T relu6(T a) {
  const T above = T(0) > a ? T(0) : a;
  return T(6) < above ? T(6) : above;
}
struct Hardsigmoid {
  static HWY_INLINE auto of(Real auto a, const auto*) { return relu6(a + 3) / 6; }
};
struct Hardswish {
  static HWY_INLINE auto of(Real auto a, const auto*) { return a * relu6(a + 3) / 6; }
};
struct Hardshrink {
  template <Real T>
  static HWY_INLINE T of(T a, const T* k) {
    return std::fabs(a) <= k[0] ? T(0) : a;
  }
};
struct Softshrink {
  template <Real T>
  static HWY_INLINE T of(T a, const T* k) {
    return a > k[0] ? a - k[0] : (a < -k[0] ? a + k[0] : a * T(0));
  }
};
struct NanToNum {
  template <Number T>
  static HWY_INLINE T of(T a, const T* k) {
    if constexpr (Real<T>) {
      if (is_nan(a)) return k[0];
      if (a > std::numeric_limits<T>::max()) return k[1];
      if (a < std::numeric_limits<T>::lowest()) return k[2];
    }
    return a;
  }
};
// Of a real number: NaN stays NaN, and zeros of both signs have angle 0.
struct Angle {
  template <Real T>
  static HWY_INLINE T of(T a, const T*) {
    return is_nan(a) ? a : (a < 0 ? std::numbers::pi_v<T> : T(0));
  }
};
struct Sqrt {
  static HWY_INLINE auto of(Real auto a, const auto*) { return std::sqrt(a); }
};
struct Rsqrt {
  static HWY_INLINE auto of(Real auto a, const auto*) { return 1 / std::sqrt(a); }
};

struct Add {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    return a + k[0] * b;
  }
};
struct Sub {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    return a - k[0] * b;
  }
};
struct Rsub {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    return b - k[0] * a;
  }
};
struct Mul {
  static HWY_INLINE auto of(Number auto a, decltype(a) b, const auto*) { return a * b; }
};
struct Div {
  static HWY_INLINE auto of(Real auto a, decltype(a) b, const auto*) { return a / b; }
};

// Integers: division by 0 is 0, and the minimum divided by -1 wraps.
template <Integer T>
HWY_INLINE T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(-a);
  }
  return a / b;
}
template <Integer T>
HWY_INLINE T rest(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}

struct TruncDivide {
  static HWY_INLINE auto of(Real auto a, decltype(a) b, const auto*) { return std::trunc(a / b); }
  static HWY_INLINE auto of(Integer auto a, decltype(a) b, const auto*) { return quotient(a, b); }
};
struct FloorDivide {
  // Computed from the exact remainder, with the divisor's sign: correct where a / b would round up to the next integer.
  template <Real T>
  static HWY_INLINE T of(T a, T b, const T*) {
    if (b == 0) return a / b;
    const T remainder = std::fmod(a, b);
    T exact = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0)) exact -= 1;
    if (exact == 0) return std::copysign(T(0), a / b);
    const T below = std::floor(exact);
    return exact - below > T(0.5) ? below + 1 : below;
  }
  template <Integer T>
  static HWY_INLINE T of(T a, T b, const T*) {
    const T towards_zero = quotient(a, b);
    return rest(a, b) != 0 && (a < 0) != (b < 0) ? towards_zero - 1 : towards_zero;
  }
};
struct Fmod {
  static HWY_INLINE auto of(Real auto a, decltype(a) b, const auto*) { return std::fmod(a, b); }
  static HWY_INLINE auto of(Integer auto a, decltype(a) b, const auto*) { return rest(a, b); }
};
struct Remainder {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    const T remainder = Fmod::of(a, b, k);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  }
};
struct Maximum {
  static HWY_INLINE auto of(Number auto a, decltype(a) b, const auto*) { return larger(a, b); }
};
struct Minimum {
  static HWY_INLINE auto of(Number auto a, decltype(a) b, const auto*) { return smaller(a, b); }
};
struct Pow {
  // Negative exponents: only the powers of 1 and -1 are integers.
  template <Integer T>
  static HWY_INLINE T of(T base, T exponent, const T*) {
    if (exponent < 0) return base == 1 ? 1 : (base == T(-1) ? (exponent & 1 ? T(-1) : T(1)) : 0);
    T power = 1;
    for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) power *= base;
      base *= base;
    }
    return power;
  }
};
struct Prelu {
  template <Real T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return a > 0 ? a : a * b;
  }
};
struct Eq {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a == b);
  }
};
struct Ne {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a != b);
  }
};
struct Gt {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a > b);
  }
};
struct Ge {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a >= b);
  }
};
struct Lt {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a < b);
  }
};
struct Le {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>(a <= b);
  }
};
struct LogicalAnd {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>((a != 0) & (b != 0));
  }
};
struct LogicalOr {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>((a != 0) | (b != 0));
  }
};
struct LogicalXor {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T*) {
    return truth<T>((a != 0) != (b != 0));
  }
};
struct BitwiseAnd {
  static HWY_INLINE auto of(Integer auto a, decltype(a) b, const auto*) { return a & b; }
};
struct BitwiseOr {
  static HWY_INLINE auto of(Integer auto a, decltype(a) b, const auto*) { return a | b; }
};
struct BitwiseXor {
  static HWY_INLINE auto of(Integer auto a, decltype(a) b, const auto*) { return a ^ b; }
};
// A shift's count, without the bits that a register's width has no use for: the compiler need not branch.
template <Integer T>
HWY_INLINE T shift_count(T b) {
  return b & T(8 * sizeof(T) - 1);
}
// Shifts by more than the type's width (k0, in bits) leave only the sign.
struct LeftShift {
  template <Integer T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    using Bits = std::make_unsigned_t<T>;
    const bool all = static_cast<Bits>(b) >= static_cast<Bits>(k[0]);
    const auto shifted = static_cast<T>(static_cast<Bits>(a) << shift_count(b));
    return all ? T(0) : shifted;
  }
};
struct RightShift {
  template <Integer T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    using Bits = std::make_unsigned_t<T>;
    constexpr T kAll = std::numeric_limits<T>::digits - (std::is_signed_v<T> ? 0 : 1);
    const bool all = static_cast<Bits>(b) >= static_cast<Bits>(k[0]);
    return a >> shift_count(all ? kAll : b);
  }
};
struct Gcd {
  template <Integer T>
  static HWY_INLINE T of(T a, T b, const T*) {
    a = magnitude(a);
    b = magnitude(b);
    while (b != 0) {
      const T next = rest(a, b);
      a = b;
      b = next;
    }
    return a;
  }
};
struct IsClose {
  template <Number T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    if (a == b) return T(1);
    if constexpr (Real<T>) {
      if (is_nan(a) && is_nan(b)) return k[2];
      const T allowed = k[1] + k[0] * magnitude(b);
      const T apart = magnitude(a - b);
      return truth<T>(apart <= std::numeric_limits<T>::max() && apart <= allowed);
    } else {
      return T(0);
    }
  }
};

struct Where {
  template <Number T>
  static HWY_INLINE T of(T condition, T a, T b, const T*) {
    return condition != 0 ? a : b;
  }
};
struct Addcmul {
  template <Number T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return a + k[0] * b * c;
  }
};
struct Addcdiv {
  template <Real T>
  static HWY_INLINE T of(T a, T b, T c, const T* k) {
    return a + k[0] * b / c;
  }
};
// From the nearer end, so that both ends are exact.
template <Real T>
HWY_INLINE T between(T a, T b, T weight) {
  return magnitude(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}
struct Lerp {
  static HWY_INLINE auto of(Real auto a, decltype(a) b, decltype(a) weight, const auto*) {
    return between(a, b, weight);
  }
};
struct LerpBy {
  template <Real T>
  static HWY_INLINE T of(T a, T b, const T* k) {
    return between(a, b, k[0]);
  }
};
struct ClampTensor {
  template <Number T>
  static HWY_INLINE T of(T a, T low, T high, const T*) {
    return smaller(larger(a, low), high);
  }
};

MapKernel kernel_for(MapOp op, ComputeType compute_type) {
  switch (op) {
#include "opgen/arithmetic_cases.inc"
    default: return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel_for);

}  // namespace

MapKernel arithmetic_kernel(MapOp op, ComputeType compute_type) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op, compute_type);
}

}  // namespace softnpu
#endif
