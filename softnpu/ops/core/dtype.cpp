#include "ops/core/dtype.h"

#include <algorithm>
#include <array>

namespace softnpu {
namespace {

struct Entry {
  aclDataType dtype;
  ComputeType compute_type;
  Category category;
  const char* name;
};

constexpr std::array kEntries = {
    Entry{ACL_FLOAT, ComputeType::kF32, Category::kFloating, "float32"},
    Entry{ACL_FLOAT16, ComputeType::kF32, Category::kFloating, "float16"},
    Entry{ACL_BF16, ComputeType::kF32, Category::kFloating, "bfloat16"},
    Entry{ACL_DOUBLE, ComputeType::kF64, Category::kFloating, "float64"},
    Entry{ACL_INT8, ComputeType::kI32, Category::kIntegral, "int8"},
    Entry{ACL_INT16, ComputeType::kI32, Category::kIntegral, "int16"},
    Entry{ACL_INT32, ComputeType::kI32, Category::kIntegral, "int32"},
    Entry{ACL_INT64, ComputeType::kI64, Category::kIntegral, "int64"},
    Entry{ACL_UINT8, ComputeType::kI32, Category::kIntegral, "uint8"},
    Entry{ACL_UINT16, ComputeType::kI32, Category::kIntegral, "uint16"},
    Entry{ACL_UINT32, ComputeType::kI64, Category::kIntegral, "uint32"},
    Entry{ACL_UINT64, ComputeType::kU64, Category::kIntegral, "uint64"},
    Entry{ACL_BOOL, ComputeType::kI32, Category::kBool, "bool"},
    Entry{ACL_COMPLEX32, ComputeType::kC64, Category::kComplex, "complex32"},
    Entry{ACL_COMPLEX64, ComputeType::kC64, Category::kComplex, "complex64"},
    Entry{ACL_COMPLEX128, ComputeType::kC128, Category::kComplex, "complex128"},
};

const Entry* find(aclDataType dtype) {
  const auto* found = std::find_if(kEntries.begin(), kEntries.end(), [=](const Entry& e) { return e.dtype == dtype; });
  return found == kEntries.end() ? nullptr : found;
}

const Entry& entry(aclDataType dtype) {
  const Entry* found = find(dtype);
  return found == nullptr ? kEntries.front() : *found;
}

bool is_64_bit_unsigned(aclDataType dtype) { return dtype == ACL_UINT16 || dtype == ACL_UINT32 || dtype == ACL_UINT64; }

// Both are integral and different. PyTorch does not promote unsigned types of more than 8 bits with others.
aclDataType promote_integers(aclDataType a, aclDataType b) {
  if (is_64_bit_unsigned(a) || is_64_bit_unsigned(b)) return ACL_DT_UNDEFINED;
  if (a == ACL_BOOL) return b;
  if (b == ACL_BOOL) return a;
  const size_t size_a = aclDataTypeSize(a);
  const size_t size_b = aclDataTypeSize(b);
  if (size_a == size_b) return ACL_INT16;  // int8 and uint8
  return size_a > size_b ? a : b;
}

aclDataType promote_floating(aclDataType a, aclDataType b) {
  const size_t size_a = aclDataTypeSize(a);
  const size_t size_b = aclDataTypeSize(b);
  if (size_a == size_b) return ACL_FLOAT;  // float16 and bfloat16
  return size_a > size_b ? a : b;
}

}  // namespace

bool is_known(aclDataType dtype) { return find(dtype) != nullptr; }
ComputeType compute_type_of(aclDataType dtype) { return entry(dtype).compute_type; }
Category category_of(aclDataType dtype) { return entry(dtype).category; }
size_t compute_type_size(ComputeType compute_type) {
  return with_compute_type(compute_type, []<typename T>() { return sizeof(T); });
}

const char* name_of(aclDataType dtype) {
  const Entry* found = find(dtype);
  return found == nullptr ? "unknown" : found->name;
}

aclDataType complex_of(aclDataType floating) {
  switch (floating) {
    case ACL_FLOAT16: return ACL_COMPLEX32;
    case ACL_DOUBLE: return ACL_COMPLEX128;
    default: return ACL_COMPLEX64;
  }
}

aclDataType real_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_COMPLEX32: return ACL_FLOAT16;
    case ACL_COMPLEX64: return ACL_FLOAT;
    case ACL_COMPLEX128: return ACL_DOUBLE;
    default: return dtype;
  }
}

aclDataType promote(aclDataType a, aclDataType b) {
  if (a == b) return a;
  const Category most = std::max(category_of(a), category_of(b));
  if (most <= Category::kIntegral) return promote_integers(a, b);
  if (category_of(a) < Category::kFloating) return b;
  if (category_of(b) < Category::kFloating) return a;
  if (most == Category::kFloating) return promote_floating(a, b);
  const aclDataType x = real_of(a);
  const aclDataType y = real_of(b);
  return complex_of(x == y ? x : promote_floating(x, y));
}

}  // namespace softnpu
