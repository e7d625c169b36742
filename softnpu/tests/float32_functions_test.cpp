// Functions of float32 with each vector instruction set, against the host's functions in float64.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_acos.h"
#include "aclnnop/aclnn_acosh.h"
#include "aclnnop/aclnn_asin.h"
#include "aclnnop/aclnn_asinh.h"
#include "aclnnop/aclnn_atan2.h"
#include "aclnnop/aclnn_atanh.h"
#include "aclnnop/aclnn_cosh.h"
#include "aclnnop/aclnn_erfc.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_exp2.h"
#include "aclnnop/aclnn_fmod_tensor.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_pow_tensor_tensor.h"
#include "aclnnop/aclnn_sinh.h"
#include "aclnnop/aclnn_tan.h"
#include "aclnnop/aclnn_x_log_y_tensor.h"
#include "instruction_sets.h"

namespace {

constexpr int64_t kCount = 50'001;  // not a multiple of a vector

using Plan1 = aclnnStatus (*)(const aclTensor*, aclTensor*, uint64_t*, aclOpExecutor**);
using Plan2 = aclnnStatus (*)(const aclTensor*, const aclTensor*, aclTensor*, uint64_t*, aclOpExecutor**);
using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

struct Function1 {
  const char* name;
  Plan1 plan;
  Launch launch;
  double (*exact)(double);
};
struct Function2 {
  const char* name;
  Plan2 plan;
  Launch launch;
  double (*exact)(double, double);
};

double xlogy(double a, double b) { return a == 0 && !std::isnan(b) ? 0 : a * std::log(b); }

const Function1 kOfOne[] = {{"tan", &aclnnTanGetWorkspaceSize, &aclnnTan, &std::tan},
                            {"asin", &aclnnAsinGetWorkspaceSize, &aclnnAsin, &std::asin},
                            {"acos", &aclnnAcosGetWorkspaceSize, &aclnnAcos, &std::acos},
                            {"sinh", &aclnnSinhGetWorkspaceSize, &aclnnSinh, &std::sinh},
                            {"cosh", &aclnnCoshGetWorkspaceSize, &aclnnCosh, &std::cosh},
                            {"asinh", &aclnnAsinhGetWorkspaceSize, &aclnnAsinh, &std::asinh},
                            {"acosh", &aclnnAcoshGetWorkspaceSize, &aclnnAcosh, &std::acosh},
                            {"atanh", &aclnnAtanhGetWorkspaceSize, &aclnnAtanh, &std::atanh},
                            {"exp", &aclnnExpGetWorkspaceSize, &aclnnExp, &std::exp},
                            {"exp2", &aclnnExp2GetWorkspaceSize, &aclnnExp2, &std::exp2},
                            {"erfc", &aclnnErfcGetWorkspaceSize, &aclnnErfc, &std::erfc}};
const Function2 kOfTwo[] = {{"atan2", &aclnnAtan2GetWorkspaceSize, &aclnnAtan2, &std::atan2},
                            {"pow", &aclnnPowTensorTensorGetWorkspaceSize, &aclnnPowTensorTensor, &std::pow},
                            {"fmod", &aclnnFmodTensorGetWorkspaceSize, &aclnnFmodTensor, &std::fmod},
                            {"xlogy", &aclnnXLogYTensorGetWorkspaceSize, &aclnnXLogYTensor, &xlogy}};

class Float32FunctionsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    for (auto& [device, values, tensor] : operands_) {
      ASSERT_EQ(aclrtMalloc(&device, kCount * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      constexpr int64_t kStride = 1;
      tensor = aclCreateTensor(&kCount, 1, ACL_FLOAT, &kStride, 0, ACL_FORMAT_ND, &kCount, 1, device);
    }
  }
  void TearDown() override {
    for (auto& [device, values, tensor] : operands_) aclDestroyTensor(tensor);
    AclTest::TearDown();
  }

  // Random bit patterns, or numbers near 1; all pairs of special values first.
  void fill(uint32_t seed, bool patterns) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> special = {0.0F,  -0.0F, 1.0F,   -1.0F,  0.5F,  -0.5F, 3.0F,      -3.0F,
                                        1e10F, 1e38F, 1e-45F, 1e-38F, -2.5F, NAN,   kInfinity, -kInfinity};
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (auto& [device, values, tensor] : operands_) {
      values.resize(kCount);
      for (float& value : values) {
        const auto bits = static_cast<uint32_t>(random());
        if (patterns) std::memcpy(&value, &bits, sizeof value);
        if (!patterns) value = 2 * normal(random);
      }
    }
    for (size_t i = 0; i < special.size() * special.size(); ++i) {
      operands_[0].values[i] = special[i / special.size()];
      operands_[1].values[i] = special[i % special.size()];
    }
    for (int k = 0; k < 2; ++k) {
      const size_t bytes = kCount * sizeof(float);
      ASSERT_EQ(aclrtMemcpy(operands_[k].device, bytes, operands_[k].values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
    }
  }

  const std::vector<float>& launched(Launch launch, aclOpExecutor* executor) {
    auto& [device, values, tensor] = operands_[2];
    const size_t bytes = kCount * sizeof(float);
    EXPECT_EQ(launch(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return values;
  }

  // Within two units in the last place.
  static bool is_right(float got, double exact) {
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(rounded)) return std::isnan(got);
    if (exact == 0 || !std::isfinite(rounded) || !std::isfinite(got)) {
      return got == rounded && std::signbit(got) == std::signbit(rounded);
    }
    const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
    return std::fabs(got - exact) <= 2 * unit;
  }

  struct Operand {
    void* device = nullptr;
    std::vector<float> values;
    aclTensor* tensor = nullptr;
  };
  Operand operands_[3];
};

TEST_F(Float32FunctionsTest, ResultsMatchFloat64) {
  for_each_instruction_set([&] {
    for (const bool patterns : {true, false}) {
      fill(1, patterns);
      const auto& [a, b, out] = operands_;
      uint64_t bytes = 0;
      aclOpExecutor* executor = nullptr;
      for (const Function1& f : kOfOne) {
        ASSERT_EQ(f.plan(a.tensor, out.tensor, &bytes, &executor), ACLNN_SUCCESS) << recent_error();
        const auto& y = launched(f.launch, executor);
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_TRUE(is_right(y[i], f.exact(a.values[i]))) << f.name << ' ' << a.values[i] << ": " << y[i];
        }
      }
      for (const Function2& f : kOfTwo) {
        ASSERT_EQ(f.plan(a.tensor, b.tensor, out.tensor, &bytes, &executor), ACLNN_SUCCESS) << recent_error();
        const auto& y = launched(f.launch, executor);
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_TRUE(is_right(y[i], f.exact(a.values[i], b.values[i])))
              << f.name << ' ' << a.values[i] << ' ' << b.values[i] << ": " << y[i];
        }
      }
    }
  });
}

// Relative to the result on both sides of 0: the rounding of the exponent grows with it.
TEST_F(Float32FunctionsTest, GeluIsAccurateInItsTail) {
  for_each_instruction_set([&] {
    fill(2, false);
    const auto& [a, b, out] = operands_;
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnGeluGetWorkspaceSize(a.tensor, out.tensor, &bytes, &executor), ACLNN_SUCCESS) << recent_error();
    const auto& y = launched(&aclnnGelu, executor);
    for (size_t i = 256; i < y.size(); ++i) {  // after the special values
      const double x = a.values[i];
      const double exact = x / 2 * std::erfc(-x / std::numbers::sqrt2);
      ASSERT_NEAR(y[i], exact, std::ldexp(16 + x * x, -24) * std::fabs(exact)) << x;
    }
    const float at_special[] = {y[14 * 16], a.values[14 * 16], y[13 * 16], y[8 * 16]};
    EXPECT_EQ(at_special[0], at_special[1]);  // infinity
    EXPECT_TRUE(std::isnan(at_special[2]));
    EXPECT_EQ(at_special[3], 1e10F);
  });
}

}  // namespace
