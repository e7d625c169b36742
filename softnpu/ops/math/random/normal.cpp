// Normal and exponential random numbers, with the vector kernels of log, sqrt, sin and cos.

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/math/elementwise/map_op.h"
#include "ops/math/random/draw.h"
#include "ops/math/random/random.h"

namespace softnpu {
namespace {

template <typename T>
T open_number(const uint32_t* words) {
  if constexpr (std::is_same_v<T, float>) {
    return open_unit(*words);
  } else {
    return open_unit(two_words(words));
  }
}

struct Kernels {
  explicit Kernels(ComputeType compute_type)
      : log(map_kernel(MapOp::kLog, compute_type)),
        sqrt(map_kernel(MapOp::kSqrt, compute_type)),
        sin(map_kernel(MapOp::kSin, compute_type)),
        cos(map_kernel(MapOp::kCos, compute_type)) {}
  MapKernel log, sqrt, sin, cos;
};

template <typename T>
void apply(MapKernel kernel, const T* from, size_t count, T* to) {
  const void* in[] = {from};
  kernel(to, in, count, nullptr);
}

// Box and Muller, 1958: converts two numbers of the unit interval to two standard normal ones.
template <typename T>
void standard_normal(const Kernels& kernels, const uint32_t* words, size_t count, T* out) {
  constexpr size_t kWords = sizeof(T) / sizeof(uint32_t);
  constexpr size_t kPairs = Tiles::kTile / 2;
  alignas(64) std::array<T, kPairs> radius;
  alignas(64) std::array<T, kPairs> angle;
  alignas(64) std::array<T, kPairs> sine;
  for (size_t first = 0; first < count; first += 2 * kPairs, words += 2 * kPairs * kWords, out += 2 * kPairs) {
    const size_t here = std::min(2 * kPairs, count - first);
    const size_t pairs = (here + 1) / 2;
    for (size_t i = 0; i < pairs; ++i) {
      radius[i] = open_number<T>(words + 2 * i * kWords);
      angle[i] = 2 * std::numbers::pi_v<T> * open_number<T>(words + (2 * i + 1) * kWords);
    }
    apply(kernels.log, radius.data(), pairs, radius.data());
    for (size_t i = 0; i < pairs; ++i) radius[i] *= -2;
    apply(kernels.sqrt, radius.data(), pairs, radius.data());
    apply(kernels.sin, angle.data(), pairs, sine.data());
    apply(kernels.cos, angle.data(), pairs, angle.data());
    for (size_t i = 0; i < here; ++i) out[i] = radius[i / 2] * (i % 2 == 0 ? angle[i / 2] : sine[i / 2]);
  }
}

// A mean or a deviation: from the tile per number, or one for all.
template <typename T>
struct Parameter {
  T number;
  size_t location;  // index in the tile's values; 0: `number`
  T at(void* const* values, size_t i) const {
    return location == 0 ? number : static_cast<const T*>(values[location])[i];
  }
};

template <typename T>
MakeValues normal_values(Parameter<T> mean, Parameter<T> deviation) {
  return [=, kernels = Kernels(sizeof(T) == sizeof(float) ? ComputeType::kF32 : ComputeType::kF64)](
             const uint32_t* words, void* const* values, size_t count) {
    alignas(64) std::array<T, Tiles::kTile> standard;
    standard_normal(kernels, words, count, standard.data());
    auto* out = static_cast<T*>(values[0]);
    for (size_t i = 0; i < count; ++i) out[i] = mean.at(values, i) + deviation.at(values, i) * standard[i];
  };
}

// Complex numbers: real and imaginary part in turn.
template <typename T>
MakeValues complex_values(T mean, T deviation) {
  return [=, kernels = Kernels(sizeof(T) == sizeof(float) ? ComputeType::kF32 : ComputeType::kF64)](
             const uint32_t* words, void* const* values, size_t count) {
    auto* out = static_cast<T*>(values[0]);
    standard_normal(kernels, words, 2 * count, out);
    for (size_t i = 0; i < 2 * count; ++i) out[i] = (i % 2 == 0 ? mean : T(0)) + deviation * out[i];
  };
}

template <typename T>
Distribution normal_distribution(aclDataType as, const NormalParameter& mean, const NormalParameter& deviation) {
  constexpr int64_t kWords = sizeof(T) / sizeof(uint32_t);
  const size_t deviation_at = mean.tensor == nullptr ? 1 : 2;
  return {as, kWords,
          normal_values<T>({static_cast<T>(mean.number), mean.tensor == nullptr ? size_t{0} : 1},
                           {static_cast<T>(deviation.number), deviation.tensor == nullptr ? size_t{0} : deviation_at})};
}

template <typename T>
MakeValues exponential_values(T lambda) {
  return [lambda, log = map_kernel(MapOp::kLog, sizeof(T) == sizeof(float) ? ComputeType::kF32 : ComputeType::kF64)](
             const uint32_t* words, void* const* values, size_t count) {
    auto* out = static_cast<T*>(values[0]);
    for (size_t i = 0; i < count; ++i) out[i] = open_number<T>(words + i * (sizeof(T) / sizeof(uint32_t)));
    apply(log, out, count, out);
    for (size_t i = 0; i < count; ++i) out[i] = -out[i] / lambda;
  };
}

}  // namespace

Status normal(NormalParameter mean, NormalParameter std, const RandomSeed& seed, const aclTensor& out, Plan* plan) {
  if (!is_known(out.dtype) || is_integral(out.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the result is ", describe(out), "; floating-point and complex types are taken")};
  }
  if (std.tensor == nullptr && !(std.number >= 0)) {
    return {ACLNN_ERR_PARAM_INVALID, text("std is ", std.number, ", which is not 0 or more")};
  }
  std::vector<const aclTensor*> parameters;
  if (mean.tensor != nullptr) parameters.push_back(mean.tensor);
  if (std.tensor != nullptr) parameters.push_back(std.tensor);
  Distribution distribution;
  if (is_complex(out.dtype)) {
    if (!parameters.empty()) {
      return {ACLNN_ERR_PARAM_INVALID, "complex numbers are drawn with numbers for mean and std, not with tensors"};
    }
    const double deviation = std.number / std::numbers::sqrt2;
    if (compute_type_of(out.dtype) == ComputeType::kC128) {
      distribution = {ACL_COMPLEX128, 4, complex_values<double>(mean.number, deviation)};
    } else {
      distribution = {ACL_COMPLEX64, 2, complex_values<float>(mean.number, static_cast<float>(deviation))};
    }
  } else if (out.dtype == ACL_DOUBLE) {
    distribution = normal_distribution<double>(ACL_DOUBLE, mean, std);
  } else {
    distribution = normal_distribution<float>(ACL_FLOAT, mean, std);
  }
  return plan_draw(seed, out, parameters, std::move(distribution), plan);
}

Status exponential(const aclTensor& self, int64_t count, double lambda, const RandomSeed& seed, Plan* plan) {
  if (!is_known(self.dtype) || !is_floating(self.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("selfRef is ", describe(self), "; floating-point types are taken")};
  }
  if (!(lambda > 0) || std::isinf(lambda))
    return {ACLNN_ERR_PARAM_INVALID, text("lambda is ", lambda, ", not above 0 and finite")};
  if (count != element_count(self)) {
    return {ACLNN_ERR_PARAM_INVALID, text("count is ", count, " where selfRef has ", element_count(self), " elements")};
  }
  Distribution distribution;
  if (self.dtype == ACL_DOUBLE) {
    distribution = {ACL_DOUBLE, 2, exponential_values<double>(lambda)};
  } else {
    distribution = {ACL_FLOAT, 1, exponential_values<float>(static_cast<float>(lambda))};
  }
  return plan_draw(seed, self, {}, std::move(distribution), plan);
}

}  // namespace softnpu
