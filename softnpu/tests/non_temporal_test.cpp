// Results larger than the caches are written with non-temporal stores: their bytes equal those of the same rows in
// small tensors.

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_layer_norm_backward.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_backward.h"
#include "aclnnop/aclnn_swi_glu.h"
#include "instruction_sets.h"
#include "simd/non_temporal.h"

namespace {

constexpr int64_t kLength = 2051;  // not a multiple of a vector
constexpr int64_t kRows = 4100;    // more than 32 MiB in all
constexpr int64_t kFew = 410;      // rows of a small tensor
static_assert(kRows * kLength * int64_t{sizeof(float)} > softnpu::kNonTemporalBytes);
static_assert(kFew * kLength * int64_t{sizeof(float)} < softnpu::kNonTemporalBytes);

// Device memory for `count` values; a tensor may begin at any row.
class Values {
 public:
  explicit Values(int64_t count) : count_(count) {
    EXPECT_EQ(aclrtMalloc(&memory_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values() { aclrtFree(memory_); }

  void upload(const std::vector<float>& from) {
    ASSERT_EQ(aclrtMemcpy(memory_, bytes(), from.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  std::vector<uint32_t> download() const {
    std::vector<uint32_t> bits(static_cast<size_t>(count_));
    EXPECT_EQ(aclrtMemcpy(bits.data(), bytes(), memory_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return bits;
  }
  aclTensor* rows(int64_t first, int64_t count, int64_t length) const {
    const std::array<int64_t, 2> sizes = {count, length};
    const std::array<int64_t, 2> strides = {length, 1};
    return aclCreateTensor(sizes.data(), 2, ACL_FLOAT, strides.data(), first * length, ACL_FORMAT_ND, &count_, 1,
                           memory_);
  }
  aclTensor* line() const {
    const int64_t one = 1;
    return aclCreateTensor(&count_, 1, ACL_FLOAT, &one, 0, ACL_FORMAT_ND, &count_, 1, memory_);
  }

 private:
  size_t bytes() const { return static_cast<size_t>(count_) * sizeof(float); }

  const int64_t count_;
  void* memory_ = nullptr;
};

class NonTemporalTest : public AclTest {};

// Plans from `x` and `other`, or `pair`, to `y`; each row has a mean and a deviation.
struct Some {
  aclTensor* x;
  aclTensor* other;
  aclTensor* pair;  // rows of twice the length
  aclTensor* y;
  aclTensor* mean;
  aclTensor* spread;
  aclTensor* weight;
  aclTensor* bias;
  uint64_t* workspace;
  aclOpExecutor** executor;
};
using PlanSome = std::function<aclnnStatus(const Some&)>;
using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Input rows and their results.
class Operands {
 public:
  // Runs it on all rows at once, then on a few at a time; expects identical results.
  void check(const char* name, const PlanSome& plan, Launch launch) {
    SCOPED_TRACE(name);
    run(plan, launch, kRows);
    const std::vector<uint32_t> at_once = y_.download();
    y_.upload(std::vector<float>(static_cast<size_t>(kRows * kLength)));
    run(plan, launch, kFew);
    EXPECT_TRUE(y_.download() == at_once);
  }

  Operands() {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0.25F, 4);
    std::vector<float> values(static_cast<size_t>(kRows * kLength));
    for (float& value : values) value = normal(random);
    other_.upload(values);
    for (size_t i = 0; i < values.size(); i += 1'000'003) {
      values[i] = std::numeric_limits<float>::quiet_NaN();
      values[i + 77'777] = std::numeric_limits<float>::infinity();
      values[i + 222'222] = -std::numeric_limits<float>::infinity();
      values[i + 333'333] = -1e30F;
    }
    for (size_t i = 5'000'000; i < 5'100'000; ++i) values[i] *= 30;  // exponentials that are subnormal
    x_.upload(values);
    values.insert(values.end(), values.rbegin(), values.rend());
    pair_.upload(values);
    std::vector<float> line(static_cast<size_t>(kLength));
    for (float& value : line) value = normal(random);
    weight_.upload(line);
    bias_.upload(line);
    std::vector<float> of_rows(static_cast<size_t>(kRows));
    for (float& value : of_rows) value = std::fabs(normal(random));
    mean_.upload(of_rows);
    spread_.upload(of_rows);
  }

 private:
  void run(const PlanSome& plan, Launch launch, int64_t group) {
    for (int64_t row = 0; row < kRows; row += group) {
      uint64_t bytes = 0;
      aclOpExecutor* executor = nullptr;
      const Some rows{x_.rows(row, group, kLength),
                      other_.rows(row, group, kLength),
                      pair_.rows(row, group, 2 * kLength),
                      y_.rows(row, group, kLength),
                      mean_.rows(row, group, 1),
                      spread_.rows(row, group, 1),
                      weight_.line(),
                      bias_.line(),
                      &bytes,
                      &executor};
      ASSERT_EQ(plan(rows), ACLNN_SUCCESS) << aclGetRecentErrMsg();
      void* workspace = nullptr;
      if (bytes != 0) {
        ASSERT_EQ(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      }
      ASSERT_EQ(launch(workspace, bytes, executor, nullptr), ACLNN_SUCCESS) << aclGetRecentErrMsg();
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      if (workspace != nullptr) aclrtFree(workspace);
      for (aclTensor* each : {rows.x, rows.other, rows.pair, rows.y, rows.mean, rows.spread, rows.weight, rows.bias})
        aclDestroyTensor(each);
    }
  }

  Values x_{kRows * kLength}, other_{kRows * kLength}, y_{kRows * kLength};
  Values pair_{2 * kRows * kLength};
  Values mean_{kRows}, spread_{kRows}, weight_{kLength}, bias_{kLength};
};

TEST_F(NonTemporalTest, LargeResultsEqualThoseOfSmallTensors) {
  Operands operands;
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  aclIntArray* shape = aclCreateIntArray(&kLength, 1);
  const std::array<bool, 3> first = {true, false, false};
  aclBoolArray* mask = aclCreateBoolArray(first.data(), first.size());
  for_each_instruction_set([&] {
    operands.check(
        "exp", [](const Some& r) { return aclnnExpGetWorkspaceSize(r.x, r.y, r.workspace, r.executor); }, &aclnnExp);
    operands.check(
        "softmax", [](const Some& r) { return aclnnSoftmaxGetWorkspaceSize(r.x, 1, r.y, r.workspace, r.executor); },
        &aclnnSoftmax);
  });
  operands.check(
      "gelu", [](const Some& r) { return aclnnGeluGetWorkspaceSize(r.x, r.y, r.workspace, r.executor); }, &aclnnGelu);
  operands.check(
      "add",
      [&](const Some& r) { return aclnnAddGetWorkspaceSize(r.x, r.other, scalar, r.y, r.workspace, r.executor); },
      &aclnnAdd);
  operands.check(
      "swiglu", [](const Some& r) { return aclnnSwiGluGetWorkspaceSize(r.pair, 1, r.y, r.workspace, r.executor); },
      &aclnnSwiGlu);
  operands.check(
      "gradient of softmax",
      [](const Some& r) { return aclnnSoftmaxBackwardGetWorkspaceSize(r.x, r.other, 1, r.y, r.workspace, r.executor); },
      &aclnnSoftmaxBackward);
  operands.check(
      "layer norm",
      [&](const Some& r) {
        return aclnnLayerNormGetWorkspaceSize(r.x, shape, r.weight, r.bias, 1e-5, r.y, r.mean, r.spread, r.workspace,
                                              r.executor);
      },
      &aclnnLayerNorm);
  operands.check(
      "gradient of layer norm",
      [&](const Some& r) {
        return aclnnLayerNormBackwardGetWorkspaceSize(r.other, r.x, shape, r.mean, r.spread, r.weight, r.bias, mask,
                                                      r.y, nullptr, nullptr, r.workspace, r.executor);
      },
      &aclnnLayerNormBackward);
  operands.check(
      "rms norm",
      [](const Some& r) {
        return aclnnRmsNormGetWorkspaceSize(r.x, r.weight, 1e-6, r.y, r.spread, r.workspace, r.executor);
      },
      &aclnnRmsNorm);
  aclDestroyBoolArray(mask);
  aclDestroyIntArray(shape);
  aclDestroyScalar(scalar);
}

}  // namespace
