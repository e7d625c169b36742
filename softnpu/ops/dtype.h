#pragma once
// ATen's data types as kernels see them: each is computed in one of a few compute types.

#include <complex>
#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

// The type that values of a narrower one are computed in. Integers up to 32 bits wrap at their own width when stored.
enum class ComputeType : uint8_t { kF32, kF64, kI32, kI64, kU64, kC64, kC128 };
constexpr size_t kComputeTypes = 7;

// A type for a ComputeType: Tag<ComputeType::kF32>::type is float.
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

// What a data type is, for PyTorch's rules of promotion; the order is theirs.
enum class Category : uint8_t { kBool, kIntegral, kFloating, kComplex };

// Whether kernels take `dtype`: floating point of 16, 32, 64 bits, complex of them, all integers of 8 to 64 bits, bool.
bool is_known(aclDataType dtype);
// For known types.
ComputeType compute_type_of(aclDataType dtype);
Category category_of(aclDataType dtype);
inline bool is_floating(aclDataType dtype) { return category_of(dtype) == Category::kFloating; }
inline bool is_half(aclDataType dtype) { return dtype == ACL_FLOAT16 || dtype == ACL_BF16; }
inline bool is_complex(aclDataType dtype) { return category_of(dtype) == Category::kComplex; }
inline bool is_integral(aclDataType dtype) { return category_of(dtype) <= Category::kIntegral; }
size_t compute_type_size(ComputeType compute_type);

// "float32"; "data type 99" has no name and is "unknown".
const char* name_of(aclDataType dtype);

// PyTorch's torch.promote_types; ACL_DT_UNDEFINED where it refuses.
aclDataType promote(aclDataType a, aclDataType b);

// The complex type for a floating one and back; complex32 and float16 belong together.
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
