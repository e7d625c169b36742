#pragma once
// Conversion of single elements between memory and compute types, for loops with irregular access.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "acl/acl_base.h"

namespace softnpu {

// Values stored as S and computed as C, if C++ converts between them.
template <typename S, typename C>
struct PlainElement {
  using Stored = S;
  using Computed = C;
  static C load(const char* at) {
    S stored;
    std::memcpy(&stored, at, sizeof stored);
    return static_cast<C>(stored);
  }
  static void store(char* at, C value) {
    const S stored = static_cast<S>(value);
    std::memcpy(at, &stored, sizeof stored);
  }
};

struct BoolElement {
  using Stored = uint8_t;
  using Computed = int32_t;
  static int32_t load(const char* at) { return *at != 0; }
  static void store(char* at, int32_t value) { *at = value != 0 ? 1 : 0; }
};

struct Float16Element {
  using Stored = uint16_t;
  using Computed = float;
  static float load(const char* at) {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return aclFloat16ToFloat(bits);
  }
  static void store(char* at, float value) {
    const uint16_t bits = aclFloatToFloat16(value);
    std::memcpy(at, &bits, sizeof bits);
  }
};

struct BFloat16Element {
  using Stored = uint16_t;
  using Computed = float;
  static float load(const char* at) {
    uint16_t half;
    std::memcpy(&half, at, sizeof half);
    const uint32_t bits = static_cast<uint32_t>(half) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  static void store(char* at, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    const auto half = static_cast<uint16_t>(is_nan ? 0x7FC0 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
};

struct Complex32Element {
  using Stored = uint32_t;
  using Computed = std::complex<float>;
  static Computed load(const char* at) { return {Float16Element::load(at), Float16Element::load(at + 2)}; }
  static void store(char* at, Computed value) {
    Float16Element::store(at, value.real());
    Float16Element::store(at + 2, value.imag());
  }
};

// Calls body.template operator()<Element>() for floating-point dtypes; with float32 for others.
template <typename Body>
decltype(auto) with_floating(aclDataType dtype, Body&& body) {
  switch (dtype) {
    case ACL_FLOAT16: return body.template operator()<Float16Element>();
    case ACL_BF16: return body.template operator()<BFloat16Element>();
    case ACL_DOUBLE: return body.template operator()<PlainElement<double, double>>();
    default: return body.template operator()<PlainElement<float, float>>();
  }
}

// Floating point and complex numbers.
template <typename Body>
decltype(auto) with_inexact(aclDataType dtype, Body&& body) {
  switch (dtype) {
    case ACL_COMPLEX32: return body.template operator()<Complex32Element>();
    case ACL_COMPLEX64: return body.template operator()<PlainElement<std::complex<float>, std::complex<float>>>();
    case ACL_COMPLEX128: return body.template operator()<PlainElement<std::complex<double>, std::complex<double>>>();
    default: return with_floating(dtype, body);
  }
}

// Integers, bool and floating point.
template <typename Body>
decltype(auto) with_real(aclDataType dtype, Body&& body) {
  switch (dtype) {
    case ACL_INT8: return body.template operator()<PlainElement<int8_t, int32_t>>();
    case ACL_INT16: return body.template operator()<PlainElement<int16_t, int32_t>>();
    case ACL_INT32: return body.template operator()<PlainElement<int32_t, int32_t>>();
    case ACL_INT64: return body.template operator()<PlainElement<int64_t, int64_t>>();
    case ACL_UINT8: return body.template operator()<PlainElement<uint8_t, int32_t>>();
    case ACL_UINT16: return body.template operator()<PlainElement<uint16_t, int32_t>>();
    case ACL_UINT32: return body.template operator()<PlainElement<uint32_t, int64_t>>();
    case ACL_UINT64: return body.template operator()<PlainElement<uint64_t, uint64_t>>();
    case ACL_BOOL: return body.template operator()<BoolElement>();
    default: return with_floating(dtype, body);
  }
}

// Any known dtype.
template <typename Body>
decltype(auto) with_any(aclDataType dtype, Body&& body) {
  switch (dtype) {
    case ACL_COMPLEX32:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128: return with_inexact(dtype, body);
    default: return with_real(dtype, body);
  }
}

}  // namespace softnpu
