// IEEE 754 binary16 in integer arithmetic: identical bits on every machine and in every rounding mode.

#include <bit>
#include <cstdint>

#include "acl/acl_base.h"

namespace {

constexpr int kDroppedBits = 23 - 10;             // fraction bits of float minus those of half
constexpr uint32_t kBiasStep = (127 - 15) << 10;  // difference of the exponent biases, at half's position
constexpr uint32_t kHalfInfinity = 0x7c00;
constexpr uint32_t kHalfQuiet = 0x0200;
constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kSmallestNormalHalf = 0x38800000;  // 2^-14 as float
constexpr uint32_t kOverflow = 0x47800000;            // 2^16 as float: all larger values overflow to infinity

// Drops the last `bits` bits of `value`, rounding to nearest, ties to even.
constexpr uint32_t round_off(uint32_t value, int bits) {
  uint32_t below_half = (1u << (bits - 1)) - 1;
  return (value + below_half + ((value >> bits) & 1)) >> bits;
}

constexpr uint32_t magnitude_to_half(uint32_t bits) {
  if (bits > kFloatInfinity) return kHalfInfinity | kHalfQuiet | ((bits >> kDroppedBits) & 0x3ff);  // NaN stays NaN
  if (bits >= kOverflow) return kHalfInfinity;
  // A carry out of the fraction increments the exponent, and yields infinity from the largest one.
  if (bits >= kSmallestNormalHalf) return round_off(bits, kDroppedBits) - kBiasStep;
  // Subnormal: units of 2^-24. Values below half a unit, 2^-25, become zero.
  int exponent = static_cast<int>(bits >> 23);
  if (exponent < 127 - 25) return 0;
  uint32_t significand = (bits & 0x7fffff) | 0x800000;
  return round_off(significand, 127 - 1 - exponent);
}

constexpr uint32_t magnitude_to_float(uint32_t half) {
  if (half >= kHalfInfinity) return kFloatInfinity | (half & 0x3ff) << kDroppedBits;
  if (half >= 0x0400) return (half + kBiasStep) << kDroppedBits;
  if (half == 0) return 0;
  // Subnormal: the highest set bit becomes float's hidden bit.
  int shift = std::countl_zero(half) - 21;
  uint32_t exponent = static_cast<uint32_t>(127 - 14 - shift);
  return exponent << 23 | ((half << shift) & 0x3ff) << kDroppedBits;
}

}  // namespace

float aclFloat16ToFloat(aclFloat16 value) {
  uint32_t sign = static_cast<uint32_t>(value & 0x8000) << 16;
  return std::bit_cast<float>(sign | magnitude_to_float(value & 0x7fffu));
}

aclFloat16 aclFloatToFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  return static_cast<aclFloat16>(sign | magnitude_to_half(bits & 0x7fffffff));
}
