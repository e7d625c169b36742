#include "ops/convert/number.h"

#include <cstring>
#include <type_traits>

#include "ops/convert/rows.h"
#include "ops/dtype.h"

namespace softnpu {
namespace {

constexpr size_t kMostBytes = 16;

}  // namespace

aclDataType computed_as(aclDataType dtype) {
  switch (wide_of(dtype)) {
    case Wide::kF32: return ACL_FLOAT;
    case Wide::kF64: return ACL_DOUBLE;
    case Wide::kI32: return ACL_INT32;
    case Wide::kI64: return ACL_INT64;
    case Wide::kU64: return ACL_UINT64;
    case Wide::kC64: return ACL_COMPLEX64;
    case Wide::kC128: break;
  }
  return ACL_COMPLEX128;
}

void put_scalar(const aclScalar& value, aclDataType dtype, void* to) {
  with_wide(wide_of(dtype), [&]<typename T>() {
    T converted;
    if (dtype == ACL_BOOL) {
      converted = static_cast<T>(value.as_bool() ? 1 : 0);
    } else if constexpr (std::is_same_v<T, uint64_t>) {  // NOLINT(bugprone-branch-clone): one branch a type
      converted = value.as_uint64();
    } else if constexpr (std::is_integral_v<T>) {
      converted = static_cast<T>(value.as_int64());
    } else if constexpr (std::is_floating_point_v<T>) {
      converted = static_cast<T>(value.as_double());
    } else {
      converted = static_cast<T>(value.as_complex());
    }
    std::memcpy(to, &converted, sizeof converted);
  });
  if (is_integral(dtype)) round_value(dtype, to);
}

void round_value(aclDataType dtype, void* value) {
  if (computed_as(dtype) == dtype) return;
  uint64_t narrow = 0;
  store_row(dtype)(value, 1, &narrow, sizeof narrow);
  load_row(dtype)(&narrow, sizeof narrow, 1, value);
}

void store_scalar(const aclScalar& value, aclDataType dtype, void* to) {
  alignas(kMostBytes) char wide[kMostBytes];
  put_scalar(value, dtype, wide);
  store_row(dtype)(wide, 1, to, static_cast<ptrdiff_t>(aclDataTypeSize(dtype)));
}

}  // namespace softnpu
