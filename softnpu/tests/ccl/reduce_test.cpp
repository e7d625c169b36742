// The rounding of reductions, their order, NaN, and integers that wrap.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "acl/acl.h"
#include "ccl/reduce.h"

namespace ccl_test {
namespace {

using softnpu::ccl::reduce;

template <typename T>
std::vector<T> reduced_by_library(HcclDataType type, HcclReduceOp op, const std::vector<std::vector<T>>& inputs) {
  std::vector<const char*> pointers;
  for (const auto& input : inputs) pointers.push_back(reinterpret_cast<const char*>(input.data()));
  std::vector<T> out(inputs.front().size());
  reduce(type, op, pointers, out.size(), reinterpret_cast<char*>(out.data()));
  // Stored around the caches, to an address of another alignment, it has the same bits.
  std::vector<char> around(out.size() * sizeof(T) + 1);
  reduce(type, op, pointers, out.size(), around.data() + 1, true);
  EXPECT_EQ(std::memcmp(around.data() + 1, out.data(), out.size() * sizeof(T)), 0);
  return out;
}

float from_bfloat16(uint16_t bits) {
  const uint32_t widened = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &widened, sizeof value);
  return value;
}

uint16_t to_bfloat16(float value) {  // to nearest, ties to even
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

TEST(ReduceTest, FloatsAreAddedInTheOrderOfRanks) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1e3F, 1e3F);
  std::vector<std::vector<float>> inputs(4, std::vector<float>(7003));
  for (auto& input : inputs) {
    for (float& value : input) value = values(random);
  }
  const auto out = reduced_by_library(HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, inputs);
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], ((inputs[0][i] + inputs[1][i]) + inputs[2][i]) + inputs[3][i]);
  }
}

TEST(ReduceTest, HalfTypesAreAddedInFloat32AndRoundedOnce) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> values(-8, 8);
  std::vector<std::vector<uint16_t>> halves(3, std::vector<uint16_t>(777));
  auto brains = halves;
  for (size_t rank = 0; rank < halves.size(); ++rank) {
    for (size_t i = 0; i < halves[rank].size(); ++i) {
      halves[rank][i] = aclFloatToFloat16(values(random));
      brains[rank][i] = to_bfloat16(values(random));
    }
  }
  const auto half = reduced_by_library(HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, halves);
  const auto brain = reduced_by_library(HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM, brains);
  for (size_t i = 0; i < half.size(); ++i) {
    float sum = 0;
    float other = 0;
    for (size_t rank = 0; rank < halves.size(); ++rank) {
      sum += aclFloat16ToFloat(halves[rank][i]);
      other += from_bfloat16(brains[rank][i]);
    }
    EXPECT_EQ(half[i], aclFloatToFloat16(sum)) << i;
    EXPECT_EQ(brain[i], to_bfloat16(other)) << i;
  }
}

TEST(ReduceTest, NanWinsInEveryPlace) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const HcclReduceOp op : {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
    for (size_t rank = 0; rank < 3; ++rank) {
      std::vector<std::vector<float>> inputs(3, std::vector<float>(37, 1.0F));
      inputs[rank].assign(37, kNan);
      for (const float value : reduced_by_library(HCCL_DATA_TYPE_FP32, op, inputs)) EXPECT_TRUE(std::isnan(value));
      std::vector<std::vector<uint16_t>> brains(3, std::vector<uint16_t>(37, to_bfloat16(1)));
      brains[rank].assign(37, to_bfloat16(kNan));
      for (const uint16_t bits : reduced_by_library(HCCL_DATA_TYPE_BFP16, op, brains)) {
        EXPECT_TRUE(std::isnan(from_bfloat16(bits)));
      }
    }
  }
}

template <typename T>
void expect_wrapping(HcclDataType type) {
  std::mt19937_64 random(3);
  std::vector<std::vector<T>> inputs(3, std::vector<T>(301));
  for (auto& input : inputs) {
    for (T& value : input) value = static_cast<T>(random());
  }
  const auto sums = reduced_by_library(type, HCCL_REDUCE_SUM, inputs);
  const auto products = reduced_by_library(type, HCCL_REDUCE_PROD, inputs);
  const auto largest = reduced_by_library(type, HCCL_REDUCE_MAX, inputs);
  for (size_t i = 0; i < sums.size(); ++i) {
    uint64_t sum = 0;
    uint64_t product = 1;
    for (const auto& input : inputs) {
      sum += static_cast<uint64_t>(input[i]);
      product *= static_cast<uint64_t>(input[i]);
    }
    EXPECT_EQ(sums[i], static_cast<T>(sum));
    EXPECT_EQ(products[i], static_cast<T>(product));
    EXPECT_EQ(largest[i], std::max({inputs[0][i], inputs[1][i], inputs[2][i]}));
  }
}

TEST(ReduceTest, IntegersWrap) {
  expect_wrapping<int8_t>(HCCL_DATA_TYPE_INT8);
  expect_wrapping<int16_t>(HCCL_DATA_TYPE_INT16);
  expect_wrapping<int32_t>(HCCL_DATA_TYPE_INT32);
  expect_wrapping<int64_t>(HCCL_DATA_TYPE_INT64);
  expect_wrapping<uint8_t>(HCCL_DATA_TYPE_UINT8);
  expect_wrapping<uint16_t>(HCCL_DATA_TYPE_UINT16);
  expect_wrapping<uint32_t>(HCCL_DATA_TYPE_UINT32);
  expect_wrapping<uint64_t>(HCCL_DATA_TYPE_UINT64);
}

}  // namespace
}  // namespace ccl_test
