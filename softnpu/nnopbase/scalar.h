#pragma once
// The value of an aclScalar: a number of any of ATen's types, exactly.

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "aclnn/aclnn_base.h"
#include "base/status.h"

namespace softnpu {

// Converts `value`: truncates, saturates at the limits of the type, and maps NaN to 0. These are undefined in C++.
template <typename Integer>
Integer integer_of(double value) {
  using Limits = std::numeric_limits<Integer>;
  constexpr double kEnd = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  static_assert(sizeof(Integer) == sizeof(int64_t));
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(value);
}

}  // namespace softnpu

struct aclScalar {
  enum class Kind : uint8_t { kSigned, kUnsigned, kReal, kComplex };

  aclDataType dtype = ACL_DT_UNDEFINED;
  Kind kind = Kind::kReal;
  uint64_t integer = 0;         // of integral kinds: 64 bits of two's complement
  std::complex<double> number;  // of other kinds

  bool is_bool() const { return dtype == ACL_BOOL; }
  bool is_integral() const { return kind == Kind::kSigned || kind == Kind::kUnsigned; }  // including bool
  bool is_floating() const { return kind == Kind::kReal; }
  bool is_complex() const { return kind == Kind::kComplex; }

  // Exact except for integers above 2^53, which are rounded. The real part of a complex number.
  double as_double() const {
    if (kind == Kind::kSigned) return static_cast<double>(static_cast<int64_t>(integer));
    return kind == Kind::kUnsigned ? static_cast<double>(integer) : number.real();
  }
  float as_float() const { return static_cast<float>(as_double()); }
  std::complex<double> as_complex() const { return is_complex() ? number : as_double(); }

  // Integers keep their bits: 2^63 becomes the least int64_t, -1 the greatest uint64_t. See integer_of().
  int64_t as_int64() const {
    return is_integral() ? static_cast<int64_t>(integer) : softnpu::integer_of<int64_t>(number.real());
  }
  uint64_t as_uint64() const { return is_integral() ? integer : softnpu::integer_of<uint64_t>(number.real()); }

  // Whether it is nonzero.
  bool as_bool() const { return is_integral() ? integer != 0 : number != 0.0; }
};

namespace softnpu {

// Reads the number of type `dtype` at `value`; an error for types that are not numbers.
ACL_FUNC_VISIBILITY Status read_scalar(const void* value, aclDataType dtype, aclScalar* out);

}  // namespace softnpu
