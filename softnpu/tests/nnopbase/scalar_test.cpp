#include "nnopbase/scalar.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"

namespace {

class ScalarTest : public AclTest {
 protected:
  // The library's reading of `value`.
  template <typename T>
  static aclScalar scalar(T value, aclDataType dtype) {
    aclScalar* result = aclCreateScalar(&value, dtype);
    EXPECT_NE(result, nullptr) << recent_error();
    if (result == nullptr) return {};
    const aclScalar copy = *result;
    EXPECT_EQ(aclDestroyScalar(result), ACLNN_SUCCESS);
    EXPECT_EQ(copy.dtype, dtype);
    return copy;
  }

  template <typename T>
  static void expect_integers(aclDataType dtype) {
    using Limits = std::numeric_limits<T>;
    for (const T value : {T{0}, T{1}, Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1)}) {
      const aclScalar read = scalar(value, dtype);
      EXPECT_TRUE(read.is_integral());
      EXPECT_FALSE(read.is_floating() || read.is_complex() || read.is_bool());
      EXPECT_EQ(static_cast<T>(read.as_int64()), value);
      EXPECT_EQ(static_cast<T>(read.as_uint64()), value);
      EXPECT_EQ(read.as_double(), static_cast<double>(value));
      EXPECT_EQ(read.as_complex(), std::complex<double>(static_cast<double>(value)));
      EXPECT_EQ(read.as_bool(), value != 0);
    }
  }
};

TEST_F(ScalarTest, IntegersAreExact) {
  expect_integers<int8_t>(ACL_INT8);
  expect_integers<int16_t>(ACL_INT16);
  expect_integers<int32_t>(ACL_INT32);
  expect_integers<int64_t>(ACL_INT64);
  expect_integers<uint8_t>(ACL_UINT8);
  expect_integers<uint16_t>(ACL_UINT16);
  expect_integers<uint32_t>(ACL_UINT32);
  expect_integers<uint64_t>(ACL_UINT64);
  EXPECT_EQ(scalar((int64_t{1} << 53) + 1, ACL_INT64).as_int64(), (int64_t{1} << 53) + 1);
  EXPECT_EQ(scalar(int8_t{-1}, ACL_INT8).as_uint64(), UINT64_MAX);
}

TEST_F(ScalarTest, BoolIsAnyByteThatIsNotZero) {
  for (const uint8_t byte : {0, 1, 2, 255}) {
    const aclScalar read = scalar(byte, ACL_BOOL);
    EXPECT_TRUE(read.is_bool() && read.is_integral());
    EXPECT_EQ(read.as_bool(), byte != 0);
    EXPECT_EQ(read.as_int64(), byte != 0 ? 1 : 0);
    EXPECT_EQ(read.as_double(), byte != 0 ? 1.0 : 0.0);
  }
}

TEST_F(ScalarTest, FloatingPointIsExact) {
  for (const double value : {0.1, -1e308, 5e-324, -0.0}) {
    const aclScalar read = scalar(value, ACL_DOUBLE);
    EXPECT_TRUE(read.is_floating() && !read.is_integral() && !read.is_complex());
    EXPECT_EQ(read.as_double(), value);
    EXPECT_EQ(std::signbit(read.as_double()), std::signbit(value));
  }
  EXPECT_EQ(scalar(0.1F, ACL_FLOAT).as_double(), double{0.1F});
  EXPECT_EQ(scalar(0.1F, ACL_FLOAT).as_float(), 0.1F);
  EXPECT_EQ(scalar(uint16_t{0x3e00}, ACL_FLOAT16).as_double(), 1.5);
  EXPECT_EQ(scalar(uint16_t{0x0001}, ACL_FLOAT16).as_double(), 0x1p-24);
  EXPECT_EQ(scalar(uint16_t{0xfbff}, ACL_FLOAT16).as_double(), -65504);
  EXPECT_EQ(scalar(uint16_t{0x3fc0}, ACL_BF16).as_double(), 1.5);
  EXPECT_EQ(scalar(uint16_t{0xff7f}, ACL_BF16).as_double(), -0x1.fep127);
  EXPECT_TRUE(std::isnan(scalar(uint16_t{0x7fc0}, ACL_BF16).as_double()));
  EXPECT_TRUE(std::isinf(scalar(uint16_t{0x7c00}, ACL_FLOAT16).as_double()));
}

TEST_F(ScalarTest, ComplexKeepsBothParts) {
  const aclScalar both = scalar(std::complex<double>(0.1, -0.2), ACL_COMPLEX128);
  EXPECT_TRUE(both.is_complex() && !both.is_floating() && !both.is_integral());
  EXPECT_EQ(both.as_complex(), std::complex<double>(0.1, -0.2));
  EXPECT_EQ(both.as_double(), 0.1);
  EXPECT_EQ(scalar(std::complex<float>(1.25F, 3.F), ACL_COMPLEX64).as_complex(), std::complex<double>(1.25, 3));
  EXPECT_EQ(scalar(std::array<uint16_t, 2>{0x3c00, 0xc000}, ACL_COMPLEX32).as_complex(), std::complex<double>(1, -2));
  EXPECT_TRUE(scalar(std::complex<double>(0, 1), ACL_COMPLEX128).as_bool());
  EXPECT_FALSE(scalar(std::complex<double>(0, -0.0), ACL_COMPLEX128).as_bool());
}

TEST_F(ScalarTest, ConversionToIntegersSaturates) {
  struct Case {
    double value;
    int64_t as_signed;
    uint64_t as_unsigned;
  };
  for (const Case& c : {Case{2.9, 2, 2}, Case{-2.9, -2, 0}, Case{0x1p63, INT64_MAX, uint64_t{1} << 63},
                        Case{-0x1p63, INT64_MIN, 0}, Case{1e30, INT64_MAX, UINT64_MAX}, Case{-1e30, INT64_MIN, 0},
                        Case{INFINITY, INT64_MAX, UINT64_MAX}, Case{NAN, 0, 0}}) {
    EXPECT_EQ(scalar(c.value, ACL_DOUBLE).as_int64(), c.as_signed) << c.value;
    EXPECT_EQ(scalar(c.value, ACL_DOUBLE).as_uint64(), c.as_unsigned) << c.value;
  }
  EXPECT_TRUE(scalar(double{NAN}, ACL_DOUBLE).as_bool());
}

TEST_F(ScalarTest, BadArgumentsAreErrors) {
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  EXPECT_NE(recent_error().find("value is null"), std::string::npos);
  double value = 0;
  for (const aclDataType dtype : {ACL_DT_UNDEFINED, ACL_STRING, static_cast<aclDataType>(-5)}) {
    EXPECT_EQ(aclCreateScalar(&value, dtype), nullptr);
    EXPECT_NE(recent_error().find("a scalar cannot have data type"), std::string::npos);
  }
  aclScalar* result = aclCreateScalar(&value, ACL_DOUBLE);
  EXPECT_EQ(aclDestroyScalar(result), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(result), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyScalar(nullptr), ACLNN_SUCCESS);
}

}  // namespace
