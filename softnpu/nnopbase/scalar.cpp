#include "nnopbase/scalar.h"

#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/objects.h"

using softnpu::api;
using softnpu::Status;

namespace {

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double half(uint16_t bits) { return aclFloat16ToFloat(bits); }
double bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

template <std::integral T>
void set(T value, aclScalar* out) {
  out->kind = std::is_signed_v<T> ? aclScalar::Kind::kSigned : aclScalar::Kind::kUnsigned;
  out->integer = static_cast<uint64_t>(value);
}
void set(double value, aclScalar* out) {
  out->kind = aclScalar::Kind::kReal;
  out->number = value;
}
void set(std::complex<double> value, aclScalar* out) {
  out->kind = aclScalar::Kind::kComplex;
  out->number = value;
}

template <typename T>
std::complex<double> load_complex(const void* from) {
  return load<std::complex<T>>(from);
}

}  // namespace

Status softnpu::read_scalar(const void* value, aclDataType dtype, aclScalar* out) {
  SOFTNPU_RETURN_IF_ERROR(softnpu::not_null(value, "value"));
  out->dtype = dtype;
  switch (dtype) {
    case ACL_BOOL: set(load<uint8_t>(value) != 0, out); break;
    case ACL_INT8: set(load<int8_t>(value), out); break;
    case ACL_INT16: set(load<int16_t>(value), out); break;
    case ACL_INT32: set(load<int32_t>(value), out); break;
    case ACL_INT64: set(load<int64_t>(value), out); break;
    case ACL_UINT8: set(load<uint8_t>(value), out); break;
    case ACL_UINT16: set(load<uint16_t>(value), out); break;
    case ACL_UINT32: set(load<uint32_t>(value), out); break;
    case ACL_UINT64: set(load<uint64_t>(value), out); break;
    case ACL_FLOAT16: set(half(load<uint16_t>(value)), out); break;
    case ACL_BF16: set(bfloat16(load<uint16_t>(value)), out); break;
    case ACL_FLOAT: set(double{load<float>(value)}, out); break;
    case ACL_DOUBLE: set(load<double>(value), out); break;
    case ACL_COMPLEX32: {
      const auto parts = load<std::array<uint16_t, 2>>(value);
      set(std::complex<double>(half(parts[0]), half(parts[1])), out);
      break;
    }
    case ACL_COMPLEX64: set(load_complex<float>(value), out); break;
    case ACL_COMPLEX128: set(load_complex<double>(value), out); break;
    default:
      return {ACLNN_ERR_PARAM_INVALID,
              softnpu::text("a scalar cannot have data type ", static_cast<int>(dtype),
                            "; the integers, bool, floating-point and complex types are taken")};
  }
  return Status::ok();
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* result = nullptr;
  (void)api("aclCreateScalar", [&] {
    aclScalar scalar;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_scalar(value, dataType, &scalar));
    result = softnpu::scalars().make(scalar);
    return Status::ok();
  });
  return result;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return api("aclDestroyScalar", [&] { return softnpu::destroy_object(softnpu::scalars(), scalar, "aclScalar"); });
}
