#include "graph/ir/numbers.h"

#include <cstring>

#include "acl/acl_base.h"
#include "nnopbase/scalar.h"

namespace softnpu::graph {
namespace {

uint16_t bfloat_bits(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <typename T>
bool put(std::vector<char>* out, T value) {
  const size_t before = out->size();
  out->resize(before + sizeof(T));
  std::memcpy(out->data() + before, &value, sizeof(T));
  return true;
}

// Calls `visit` with each element.
template <typename Visit>
Status for_each_element(const Value& constant, const Visit& visit) {
  const size_t element = aclDataTypeSize(constant.dtype);
  for (size_t at = 0; element > 0 && at + element <= constant.bytes.size; at += element) {
    aclScalar number;
    SOFTNPU_RETURN_IF_ERROR(read_scalar(constant.bytes.data + at, constant.dtype, &number));
    visit(number);
  }
  return Status::ok();
}

}  // namespace

bool append_number(std::vector<char>* out, double value, aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return put(out, static_cast<float>(value));
    case ACL_DOUBLE: return put(out, value);
    case ACL_FLOAT16: return put(out, uint16_t{aclFloatToFloat16(static_cast<float>(value))});
    case ACL_BF16: return put(out, bfloat_bits(static_cast<float>(value)));
    case ACL_INT8: return put(out, static_cast<int8_t>(value));
    case ACL_INT16: return put(out, static_cast<int16_t>(value));
    case ACL_INT32: return put(out, static_cast<int32_t>(value));
    case ACL_INT64: return put(out, static_cast<int64_t>(value));
    case ACL_UINT8: return put(out, static_cast<uint8_t>(value));
    case ACL_UINT16: return put(out, static_cast<uint16_t>(value));
    case ACL_UINT32: return put(out, static_cast<uint32_t>(value));
    case ACL_UINT64: return put(out, static_cast<uint64_t>(value));
    case ACL_BOOL: return put(out, static_cast<uint8_t>(value != 0));
    default: return false;
  }
}

Status read_numbers(const Value& constant, std::vector<double>* out) {
  out->clear();
  return for_each_element(constant, [&](const aclScalar& number) { out->push_back(number.as_double()); });
}

Status read_integers(const Value& constant, std::vector<int64_t>* out) {
  out->clear();
  return for_each_element(constant, [&](const aclScalar& number) { out->push_back(number.as_int64()); });
}

}  // namespace softnpu::graph
