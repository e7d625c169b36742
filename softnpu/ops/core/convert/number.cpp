#include "ops/core/convert/number.h"

#include <cstring>
#include <type_traits>

#include "ops/core/convert/rows.h"
#include "ops/core/dtype.h"

namespace softnpu {
namespace {

constexpr size_t kMaxBytes = 16;

}  // namespace

aclDataType computed_as(aclDataType dtype) {
  switch (compute_type_of(dtype)) {
    case ComputeType::kF32: return ACL_FLOAT;
    case ComputeType::kF64: return ACL_DOUBLE;
    case ComputeType::kI32: return ACL_INT32;
    case ComputeType::kI64: return ACL_INT64;
    case ComputeType::kU64: return ACL_UINT64;
    case ComputeType::kC64: return ACL_COMPLEX64;
    case ComputeType::kC128: break;
  }
  return ACL_COMPLEX128;
}

void put_scalar(const aclScalar& value, aclDataType dtype, void* to) {
  with_compute_type(compute_type_of(dtype), [&]<typename T>() {
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
  alignas(kMaxBytes) char computed[kMaxBytes];
  put_scalar(value, dtype, computed);
  store_row(dtype)(computed, 1, to, static_cast<ptrdiff_t>(aclDataTypeSize(dtype)));
}

}  // namespace softnpu
