// Operators on blocked tensors: those that support blocked formats, or do not depend on them, keep the format; the
// others fail.

#include <algorithm>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_softmax.h"
#include "format/cast_fixture.h"

namespace format_test {
namespace {

constexpr aclFormat kImage = ACL_FORMAT_NC1HWC0;

// A float32 tensor with `values` repeated in memory.
struct Floats : Tensor {
  Floats(const Dims& dims, aclFormat format, const Dims& storage_shape, const std::vector<float>& values)
      : Tensor(ACL_FLOAT, dims, contiguous(dims), 0, format, storage_shape, repeat(values, product(storage_shape))) {}

  std::vector<float> now() const {
    const Bytes bytes = download();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  static Bytes repeat(const std::vector<float>& values, int64_t count) {
    Bytes bytes(static_cast<size_t>(count) * sizeof(float));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      std::memcpy(bytes.data() + i * sizeof(float), &values[i % values.size()], sizeof(float));
    }
    return bytes;
  }
};

// The status of both phases of an operator without a workspace.
template <typename First, typename Second, typename... Args>
aclnnStatus call(First first, Second second, Args... args) {
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus planned = first(args..., &bytes, &executor);
  if (planned != ACLNN_SUCCESS) return planned;
  EXPECT_EQ(bytes, 0U);
  EXPECT_EQ(second(nullptr, bytes, executor, nullptr), ACLNN_SUCCESS);
  return aclrtSynchronizeStream(nullptr);
}

class BlocksTest : public FormatTest {
 protected:
  static void expect_message(aclnnStatus status, const std::string& message) {
    EXPECT_EQ(status, ACLNN_ERR_PARAM_INVALID);
    const std::string error = recent_error();
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
};

TEST_F(BlocksTest, ElementwiseOperatorsWorkInMemoryOrder) {
  const Dims dims = {2, 20, 3, 3};
  const Dims storage_shape = {2, 2, 3, 3, 16};
  const Floats x(dims, kImage, storage_shape, {-1, 2, 0, -3, 5});
  const Floats y(dims, kImage, storage_shape, {7});
  ASSERT_EQ(call(aclnnReluGetWorkspaceSize, aclnnRelu, x.handle, y.handle), ACLNN_SUCCESS);
  const std::vector<float> before = x.now();
  const std::vector<float> after = y.now();
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(after[i], std::max(before[i], 0.0F)) << i;
}

TEST_F(BlocksTest, PaddingStaysZero) {
  const Dims dims = {1, 20, 3, 3};
  const Dims storage_shape = {1, 2, 3, 3, 16};
  const Floats x(dims, kImage, storage_shape, {0});
  const Floats y(dims, kImage, storage_shape, {7});
  expect_message(call(aclnnSigmoidGetWorkspaceSize, aclnnSigmoid, x.handle, y.handle), "blocks that are not full");
  const Floats full({1, 32, 3, 3}, kImage, storage_shape, {0});
  const Floats out({1, 32, 3, 3}, kImage, storage_shape, {7});
  ASSERT_EQ(call(aclnnSigmoidGetWorkspaceSize, aclnnSigmoid, full.handle, out.handle), ACLNN_SUCCESS);
  for (const float value : out.now()) ASSERT_EQ(value, 0.5F);
}

TEST_F(BlocksTest, MixedFormatsAreRefused) {
  const Dims dims = {1, 16, 2, 2};
  const Floats blocks(dims, kImage, {1, 1, 2, 2, 16}, {1});
  const Floats plain(dims, ACL_FORMAT_NCHW, {64}, {1});
  const Floats other({1, 16, 2, 1}, kImage, {1, 1, 2, 1, 16}, {1});
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  const auto add = [alpha](const Tensor& a, const Tensor& b, const Tensor& out) {
    return call(aclnnAddGetWorkspaceSize, aclnnAdd, a.handle, b.handle, alpha, out.handle);
  };
  const std::string message = "need one format and the same sizes";
  expect_message(add(blocks, plain, blocks), message);
  expect_message(add(plain, plain, blocks), message);
  expect_message(add(blocks, other, blocks), message);
  EXPECT_EQ(add(blocks, blocks, blocks), ACLNN_SUCCESS);
  for (const float value : blocks.now()) ASSERT_EQ(value, 2);
  aclDestroyScalar(alpha);
}

TEST_F(BlocksTest, OtherOperatorsRefuseBlockedFormats) {
  const Floats blocks({16, 16}, ACL_FORMAT_FRACTAL_NZ, {1, 1, 16, 16}, {1});
  const Floats plain({16, 16}, ACL_FORMAT_ND, {256}, {1});
  expect_message(call(aclnnSoftmaxGetWorkspaceSize, aclnnSoftmax, blocks.handle, int64_t{1}, plain.handle),
                 "whose blocks this operator does not know");
  expect_message(call(aclnnSoftmaxGetWorkspaceSize, aclnnSoftmax, plain.handle, int64_t{1}, blocks.handle),
                 "whose blocks this operator does not know");
}

TEST_F(BlocksTest, TooSmallMemoryIsRefused) {
  Tensor small(ACL_FLOAT, {1, 16, 2, 2}, contiguous({1, 16, 2, 2}), 0, kImage, {1, 1, 2, 2, 16}, Bytes(64));
  expect_message(call(aclnnReluGetWorkspaceSize, aclnnRelu, small.handle, small.handle),
                 "does not lie in one allocation");
}

}  // namespace
}  // namespace format_test
