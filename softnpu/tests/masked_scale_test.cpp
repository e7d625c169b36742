#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_masked_scale.h"
#include "instruction_sets.h"

namespace {

// Sizes and strides of a tensor; its device memory ends with its last element.
struct Layout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

class MaskedScaleTest : public AclTest {
 protected:
  static constexpr int64_t kMax = 200'000;

  void SetUp() override {
    AclTest::SetUp();
    for (void** memory : {&x_, &mask_, &y_}) {
      ASSERT_EQ(aclrtMalloc(memory, kMax * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    }
  }

  template <typename T>
  static void write(void* device, const std::vector<T>& values) {
    const size_t bytes = values.size() * sizeof(T);
    ASSERT_EQ(aclrtMemcpy(device, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }

  std::vector<float> result(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    const size_t bytes = values.size() * sizeof(float);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes, y_, bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return values;
  }

  static aclTensor* tensor(const Layout& layout, aclDataType dtype, void* data) {
    const auto rank = layout.sizes.size();
    return aclCreateTensor(layout.sizes.data(), rank, dtype, layout.strides.data(), 0, ACL_FORMAT_ND,
                           layout.sizes.data(), rank, data);
  }

  aclnnStatus run(const Layout& x, const Layout& mask, aclDataType mask_dtype, double scale, void* y) {
    aclTensor* tensors[] = {tensor(x, ACL_FLOAT, x_), tensor(mask, mask_dtype, mask_), tensor(x, ACL_FLOAT, y)};
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    aclnnStatus status = aclnnMaskedScaleGetWorkspaceSize(tensors[0], tensors[1], scale, tensors[2], &bytes, &executor);
    if (status == ACLNN_SUCCESS) status = aclnnMaskedScale(nullptr, 0, executor, nullptr);
    for (aclTensor* t : tensors) aclDestroyTensor(t);
    return status;
  }

  void* x_ = nullptr;
  void* mask_ = nullptr;
  void* y_ = nullptr;
};

TEST_F(MaskedScaleTest, MultipliesTwiceAndRoundsTwice) {
  for_each_instruction_set([&] {
    for (const int64_t count : {int64_t{1}, int64_t{17}, int64_t{1001}, kMax}) {
      const Layout line{{count}, {1}};
      std::vector<float> x(static_cast<size_t>(count));
      std::vector<uint8_t> bytes(x.size());
      std::vector<float> floats(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(static_cast<float>(i)) * 10;
        bytes[i] = i % 3 == 0 ? 0 : static_cast<uint8_t>(i % 2 + 1);
        floats[i] = static_cast<float>(i % 7) / 3;
      }
      x[0] = INFINITY;  // times 0 gives NaN
      write(x_, x);
      write(mask_, bytes);
      ASSERT_EQ(run(line, line, ACL_UINT8, 1.3, y_), ACLNN_SUCCESS);
      auto y = result(count);
      ASSERT_TRUE(std::isnan(y[0]));
      for (size_t i = 1; i < y.size(); ++i) ASSERT_EQ(y[i], x[i] * static_cast<float>(bytes[i]) * 1.3f) << i;
      write(mask_, floats);
      ASSERT_EQ(run(line, line, ACL_FLOAT, 1.3, y_), ACLNN_SUCCESS);
      y = result(count);
      for (size_t i = 1; i < y.size(); ++i) ASSERT_EQ(y[i], x[i] * floats[i] * 1.3f) << i;
    }
  });
}

TEST_F(MaskedScaleTest, TakesAnyOrderOfTheDimensionsButNoGaps) {
  const Layout columns{{2, 3}, {1, 2}};
  write(x_, std::vector<float>{1, 2, 3, 4, 5, 6});
  write(mask_, std::vector<uint8_t>{1, 0, 1, 0, 1, 0});
  ASSERT_EQ(run(columns, columns, ACL_BOOL, 2, y_), ACLNN_SUCCESS);
  EXPECT_EQ(result(6), (std::vector<float>{2, 0, 6, 0, 10, 0}));
  EXPECT_EQ(run({{2, 3}, {3, 1}}, columns, ACL_BOOL, 2, y_), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("differ in their sizes or strides"), std::string::npos);
  const Layout gaps{{2, 3}, {4, 1}};
  EXPECT_EQ(run(gaps, gaps, ACL_BOOL, 2, y_), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("gaps or overlaps"), std::string::npos);
  for (const Layout& bad : {Layout{{2, 3}, {5, 0}}, Layout{{2, 3}, {1, 1}}}) {
    EXPECT_EQ(run(bad, bad, ACL_BOOL, 2, y_), ACLNN_ERR_PARAM_INVALID);
    EXPECT_NE(recent_error().find("share a place in memory"), std::string::npos);
  }
}

TEST_F(MaskedScaleTest, BadArgumentsAreStatusesNotCrashes) {
  const Layout line{{4}, {1}};
  EXPECT_EQ(run(line, line, ACL_INT32, 2, y_), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("mask has data type 3"), std::string::npos);
  EXPECT_EQ(run({{kMax + 1}, {1}}, {{kMax + 1}, {1}}, ACL_BOOL, 2, y_), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("device memory"), std::string::npos);
  float host[4] = {};
  EXPECT_EQ(run(line, line, ACL_BOOL, 2, host), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(run({{0}, {1}}, {{0}, {1}}, ACL_BOOL, 2, nullptr), ACLNN_SUCCESS);
}

}  // namespace
