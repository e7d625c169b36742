#include "ccl/values.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "acl/acl.h"
#include "ccl/processes.h"

namespace ccl_test {
namespace {

constexpr std::array<size_t, 12> kSizes = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};

template <typename T>
void convert(double value, char* to) {
  const T result = static_cast<T>(value);
  std::memcpy(to, &result, sizeof result);
}
template <typename T>
double convert(const char* from) {
  T result{};
  std::memcpy(&result, from, sizeof result);
  return static_cast<double>(result);
}

uint16_t to_bfloat16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);  // the values of tests are exact
}
float from_bfloat16(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

void store(HcclDataType type, double value, char* to) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return convert<int8_t>(value, to);
    case HCCL_DATA_TYPE_INT16: return convert<int16_t>(value, to);
    case HCCL_DATA_TYPE_INT32: return convert<int32_t>(value, to);
    case HCCL_DATA_TYPE_INT64: return convert<int64_t>(value, to);
    case HCCL_DATA_TYPE_UINT8: return convert<uint8_t>(value, to);
    case HCCL_DATA_TYPE_UINT16: return convert<uint16_t>(value, to);
    case HCCL_DATA_TYPE_UINT32: return convert<uint32_t>(value, to);
    case HCCL_DATA_TYPE_UINT64: return convert<uint64_t>(value, to);
    case HCCL_DATA_TYPE_FP32: return convert<float>(value, to);
    case HCCL_DATA_TYPE_FP64: return convert<double>(value, to);
    case HCCL_DATA_TYPE_FP16: return convert<aclFloat16>(aclFloatToFloat16(static_cast<float>(value)), to);
    case HCCL_DATA_TYPE_BFP16: return convert<uint16_t>(to_bfloat16(static_cast<float>(value)), to);
  }
}

double load(HcclDataType type, const char* from) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return convert<int8_t>(from);
    case HCCL_DATA_TYPE_INT16: return convert<int16_t>(from);
    case HCCL_DATA_TYPE_INT32: return convert<int32_t>(from);
    case HCCL_DATA_TYPE_INT64: return convert<int64_t>(from);
    case HCCL_DATA_TYPE_UINT8: return convert<uint8_t>(from);
    case HCCL_DATA_TYPE_UINT16: return convert<uint16_t>(from);
    case HCCL_DATA_TYPE_UINT32: return convert<uint32_t>(from);
    case HCCL_DATA_TYPE_UINT64: return convert<uint64_t>(from);
    case HCCL_DATA_TYPE_FP32: return convert<float>(from);
    case HCCL_DATA_TYPE_FP64: return convert<double>(from);
    case HCCL_DATA_TYPE_FP16: return aclFloat16ToFloat(static_cast<aclFloat16>(convert<aclFloat16>(from)));
    case HCCL_DATA_TYPE_BFP16: return from_bfloat16(static_cast<uint16_t>(convert<uint16_t>(from)));
  }
  return 0;
}

}  // namespace

size_t size_of(HcclDataType type) { return kSizes[type]; }

Array::Array(HcclDataType type, size_t count) : type_(type), count_(count) {
  const size_t bytes = std::max<size_t>(1, count * size_of(type));
  require(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS, "aclrtMalloc");
}

Array::~Array() { (void)aclrtFree(data_); }

void Array::write(const std::vector<double>& values, size_t first) {
  if (values.empty()) return;
  std::vector<char> bytes(values.size() * size_of(type_));
  for (size_t i = 0; i < values.size(); ++i) store(type_, values[i], bytes.data() + i * size_of(type_));
  require(aclrtMemcpy(at(first), bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS,
          "aclrtMemcpy");
}

std::vector<double> Array::read(size_t first, size_t count) const {
  if (count == 0) return {};
  std::vector<char> bytes(count * size_of(type_));
  require(aclrtMemcpy(bytes.data(), bytes.size(), at(first), bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS,
          "aclrtMemcpy");
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = load(type_, bytes.data() + i * size_of(type_));
  return values;
}

double value(uint32_t rank, size_t i, uint64_t seed) {
  return static_cast<double>((i * 7 + i / 5 + rank * 5 + seed * 11) % 3);
}

std::vector<double> values(uint32_t rank, size_t count, size_t first, uint64_t seed) {
  std::vector<double> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = value(rank, first + i, seed);
  return out;
}

std::vector<double> reduced(HcclReduceOp op, uint32_t ranks, size_t count, size_t first, uint64_t seed) {
  std::vector<double> out = values(0, count, first, seed);
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    for (size_t i = 0; i < count; ++i) {
      const double other = value(rank, first + i, seed);
      switch (op) {
        case HCCL_REDUCE_SUM: out[i] += other; break;
        case HCCL_REDUCE_PROD: out[i] *= other; break;
        case HCCL_REDUCE_MAX: out[i] = std::max(out[i], other); break;
        case HCCL_REDUCE_MIN: out[i] = std::min(out[i], other); break;
      }
    }
  }
  return out;
}

}  // namespace ccl_test
