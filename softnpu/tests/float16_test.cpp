// aclFloat16ToFloat and aclFloatToFloat16 against the definition of binary16, in exact double arithmetic.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "acl/acl_base.h"

namespace {

constexpr uint32_t kInfinity = 0x7c00;
constexpr uint32_t kLargest = 0x7bff;

// The value of a half's bits without the sign: a sum of powers of two. Infinity counts as the next power.
double magnitude(uint32_t half) {
  int exponent = static_cast<int>(half >> 10);
  int fraction = static_cast<int>(half & 0x3ff);
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

// The nearest half, by binary search; for a tie the even one.
uint32_t nearest(double value) {
  uint32_t low = 0;  // magnitude(low) <= value
  uint32_t high = kInfinity;
  if (value >= magnitude(high)) return kInfinity;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    (magnitude(middle) <= value ? low : high) = middle;
  }
  double down = value - magnitude(low);
  double up = magnitude(high) - value;
  if (down != up) return down < up ? low : high;
  return low % 2 == 0 ? low : high;
}

void expect_nearest(float value) {
  ASSERT_EQ(aclFloatToFloat16(value), nearest(value)) << value;
  ASSERT_EQ(aclFloatToFloat16(-value), nearest(value) | 0x8000) << -value;
}

TEST(Float16, EveryHalfIsItsFloat) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    float value = aclFloat16ToFloat(static_cast<aclFloat16>(half));
    uint32_t unsigned_half = half & 0x7fff;
    ASSERT_EQ(std::signbit(value), half >= 0x8000) << half;
    if (unsigned_half > kInfinity) {
      ASSERT_TRUE(std::isnan(value)) << half;
    } else if (unsigned_half == kInfinity) {
      ASSERT_TRUE(std::isinf(value)) << half;
    } else {
      ASSERT_EQ(std::abs(static_cast<double>(value)), magnitude(unsigned_half)) << half;
    }
  }
}

TEST(Float16, EveryHalfSurvivesARoundTrip) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    aclFloat16 back = aclFloatToFloat16(aclFloat16ToFloat(static_cast<aclFloat16>(half)));
    // A signalling NaN becomes a quiet one.
    uint32_t quiet = (half & 0x7fff) > kInfinity ? 0x0200 : 0;
    ASSERT_EQ(back, half | quiet);
  }
}

// Between each two neighbours the middle is a tie, and the adjacent floats are not.
TEST(Float16, RoundsToTheNearestTiesToEven) {
  for (uint32_t half = 0; half <= kLargest; ++half) {
    double next = magnitude(half + 1);
    auto middle = static_cast<float>((magnitude(half) + next) / 2);
    for (float value : {static_cast<float>(magnitude(half)), middle, std::nextafter(middle, 0.0F),
                        std::nextafter(middle, std::numeric_limits<float>::infinity())}) {
      ASSERT_NO_FATAL_FAILURE(expect_nearest(value));
    }
  }
}

TEST(Float16, AnyFloat) {
  std::mt19937 random(11);
  for (int i = 0; i < 1'000'000; ++i) {
    auto value = std::bit_cast<float>(static_cast<uint32_t>(random() & 0x7fffffff));
    if (std::isnan(value)) {
      ASSERT_GT(aclFloatToFloat16(value), kInfinity);
    } else {
      ASSERT_NO_FATAL_FAILURE(expect_nearest(value));
    }
  }
}

TEST(Float16, KnownValues) {
  EXPECT_EQ(aclFloatToFloat16(1), 0x3c00);
  EXPECT_EQ(aclFloatToFloat16(-2), 0xc000);
  EXPECT_EQ(aclFloatToFloat16(65504), 0x7bff);
  EXPECT_EQ(aclFloatToFloat16(65519.996F), 0x7bff);
  EXPECT_EQ(aclFloatToFloat16(65520), 0x7c00);
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(aclFloatToFloat16(-0.0F), 0x8000);
  EXPECT_EQ(aclFloatToFloat16(std::ldexp(1.0F, -25)), 0);
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(aclFloat16ToFloat(0x3555), 0.333251953125F);
}

}  // namespace
