#pragma once
// ATen's data types in kernels: each has one of a few compute types.

#include <complex>
#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

// The type in which values of a narrower type are computed. Integers up to 32 bits wrap to their own width when stored.
enum class ComputeType : uint8_t { kF32, kF64, kI32, kI64, kU64, kC64, kC128 };
constexpr size_t kComputeTypes = 7;

// The C++ type of a ComputeType: Tag<ComputeType::kF32>::type is float.
template <ComputeType>
struct CppType;
template <>
struct CppType<ComputeType::kF32> {
  using type = float;
};
template <>
struct CppType<ComputeType::kF64> {
  using type = double;
};
template <>
struct CppType<ComputeType::kI32> {
  using type = int32_t;
};
template <>
struct CppType<ComputeType::kI64> {
  using type = int64_t;
};
template <>
struct CppType<ComputeType::kU64> {
  using type = uint64_t;
};
template <>
struct CppType<ComputeType::kC64> {
  using type = std::complex<float>;
};
template <>
struct CppType<ComputeType::kC128> {
  using type = std::complex<double>;
};

// Categories of data types for PyTorch's promotion rules, in PyTorch's order.
enum class Category : uint8_t { kBool, kIntegral, kFloating, kComplex };

// Whether kernels support `dtype`: floating point of 16, 32, 64 bits, complex numbers of them, all integers of 8 to 64
// bits, bool.
bool is_known(aclDataType dtype);
// `dtype` must be known.
ComputeType compute_type_of(aclDataType dtype);
Category category_of(aclDataType dtype);
inline bool is_floating(aclDataType dtype) { return category_of(dtype) == Category::kFloating; }
inline bool is_half(aclDataType dtype) { return dtype == ACL_FLOAT16 || dtype == ACL_BF16; }
inline bool is_complex(aclDataType dtype) { return category_of(dtype) == Category::kComplex; }
inline bool is_integral(aclDataType dtype) { return category_of(dtype) <= Category::kIntegral; }
size_t compute_type_size(ComputeType compute_type);

// "float32"; for an unnamed type "unknown".
const char* name_of(aclDataType dtype);

// PyTorch's torch.promote_types; ACL_DT_UNDEFINED if it has no common type.
aclDataType promote(aclDataType a, aclDataType b);

// The complex type of a floating-point one and back; complex32 corresponds to float16.
aclDataType complex_of(aclDataType floating);
aclDataType real_of(aclDataType dtype);

// Calls `body.template operator()<T>()` with the type of `compute_type`.
template <typename Body>
decltype(auto) with_compute_type(ComputeType compute_type, Body&& body) {
  switch (compute_type) {
    case ComputeType::kF32: return body.template operator()<float>();
    case ComputeType::kF64: return body.template operator()<double>();
    case ComputeType::kI32: return body.template operator()<int32_t>();
    case ComputeType::kI64: return body.template operator()<int64_t>();
    case ComputeType::kU64: return body.template operator()<uint64_t>();
    case ComputeType::kC64: return body.template operator()<std::complex<float>>();
    case ComputeType::kC128: break;
  }
  return body.template operator()<std::complex<double>>();
}

}  // namespace softnpu
