// Phase one rejects sizes and attributes whose workspaces, extents or windows overflow 64 bits, and results that
// overlap themselves: a wrapped size would let phase two write out of bounds.

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_avg_pool2d.h"
#include "aclnnop/aclnn_avg_pool3d.h"
#include "aclnnop/aclnn_bincount.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_group_norm_backward.h"
#include "aclnnop/aclnn_im2col.h"
#include "aclnnop/aclnn_inplace_fill_scalar.h"
#include "aclnnop/aclnn_max_pool2d_with_indices.h"
#include "aclnnop/aclnn_max_pool2d_with_mask.h"
#include "aclnnop/aclnn_median.h"
#include "aclnnop/aclnn_multinomial.h"
#include "aclnnop/aclnn_repeat.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "aclnnop/aclnn_sort.h"
#include "aclnnop/aclnn_topk.h"
#include "aclnnop/aclnn_upsample_bilinear2d.h"
#include "aclnnop/aclnn_upsample_nearest_exact2d.h"

namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kHuge = int64_t{1} << 60;

class SizesTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(memory_, kBytes, 0, kBytes), ACL_SUCCESS);
  }
  void TearDown() override {
    for (const aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
    for (const aclIntArray* array : arrays_) aclDestroyIntArray(array);
    if (executor_ != nullptr) aclDestroyAclOpExecutor(executor_);
    aclrtFree(memory_);
    AclTest::TearDown();
  }

  // All tensors share one block of memory; without `strides` they are contiguous.
  aclTensor* tensor(const Sizes& sizes, aclDataType dtype, Sizes strides = {}) {
    if (strides.empty()) {
      strides.resize(sizes.size());
      int64_t next = 1;
      for (size_t i = sizes.size(); i-- > 0; next *= sizes[i]) strides[i] = next;
    }
    const int64_t held = kBytes / static_cast<int64_t>(aclDataTypeSize(dtype));
    aclTensor* result =
        aclCreateTensor(sizes.data(), sizes.size(), dtype, strides.data(), 0, ACL_FORMAT_ND, &held, 1, memory_);
    EXPECT_NE(result, nullptr) << recent_error();
    tensors_.push_back(result);
    return result;
  }
  // One element, repeated `size` times.
  aclTensor* expanded(int64_t size, aclDataType dtype) { return tensor({size}, dtype, {0}); }
  aclIntArray* array(const Sizes& values) {
    aclIntArray* result = aclCreateIntArray(values.data(), values.size());
    arrays_.push_back(result);
    return result;
  }

  void expect_refused(aclnnStatus status, const char* reason) {
    EXPECT_EQ(status, ACLNN_ERR_PARAM_INVALID) << "a workspace of " << bytes_ << " bytes";
    EXPECT_NE(recent_error().find(reason), std::string::npos) << recent_error();
  }

  static constexpr int64_t kBytes = 1 << 16;
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
  aclOpExecutor* executor_ = nullptr;
  std::vector<const aclTensor*> tensors_;
  std::vector<const aclIntArray*> arrays_;
};

constexpr const char* kWorkspace = "needs a workspace of more than 2^63 bytes";

TEST_F(SizesTest, TopkOfAnExpandedLine) {
  expect_refused(aclnnTopkGetWorkspaceSize(expanded(int64_t{1} << 59, ACL_INT8), 1, 0, true, true,
                                           tensor({1}, ACL_INT8), tensor({1}, ACL_INT64), &bytes_, &executor_),
                 kWorkspace);
}

TEST_F(SizesTest, MedianOfAnExpandedTensor) {
  expect_refused(aclnnMedianGetWorkspaceSize(expanded(kHuge, ACL_INT8), tensor({}, ACL_INT8), &bytes_, &executor_),
                 kWorkspace);
}

TEST_F(SizesTest, MultinomialOfAnExpandedRow) {
  expect_refused(aclnnMultinomialGetWorkspaceSize(expanded(kHuge, ACL_FLOAT), 1, true, 1, 0, tensor({1}, ACL_INT64),
                                                  &bytes_, &executor_),
                 kWorkspace);
}

TEST_F(SizesTest, BincountIntoOneElement) {
  expect_refused(aclnnBincountGetWorkspaceSize(tensor({3}, ACL_INT64), nullptr, 0, expanded(2 * kHuge, ACL_INT8),
                                               &bytes_, &executor_),
                 "share a place in memory");
}

// The workspace has the weights, one more element and the indices: 2^64 bytes.
TEST_F(SizesTest, EmbeddingGradientOfExpandedIndices) {
  const int64_t count = 2 * kHuge - 3;
  expect_refused(
      aclnnEmbeddingDenseBackwardGetWorkspaceSize(tensor({count, 1}, ACL_FLOAT, {0, 1}), expanded(count, ACL_INT32), 2,
                                                  -1, false, tensor({2, 1}, ACL_FLOAT), &bytes_, &executor_),
      kWorkspace);
}

TEST_F(SizesTest, GroupNormGradientOfTooManySamples) {
  const bool all[] = {true, true, true};
  aclBoolArray* mask = aclCreateBoolArray(all, 3);
  const int64_t n = int64_t{1} << 32;
  expect_refused(aclnnGroupNormBackwardGetWorkspaceSize(tensor({0}, ACL_FLOAT), tensor({0}, ACL_FLOAT),
                                                        tensor({0}, ACL_FLOAT), tensor({0}, ACL_FLOAT), nullptr, n, n,
                                                        1, n, mask, tensor({0}, ACL_FLOAT), tensor({n}, ACL_FLOAT, {0}),
                                                        tensor({n}, ACL_FLOAT, {0}), &bytes_, &executor_),
                 "share a place in memory");
  const bool none[] = {false, false, false};
  aclBoolArray* nothing = aclCreateBoolArray(none, 3);
  expect_refused(aclnnGroupNormBackwardGetWorkspaceSize(tensor({0}, ACL_FLOAT), tensor({0}, ACL_FLOAT),
                                                        tensor({0}, ACL_FLOAT), tensor({0}, ACL_FLOAT), nullptr, n, n,
                                                        1, n, nothing, nullptr, nullptr, nullptr, &bytes_, &executor_),
                 "samples of");
  aclDestroyBoolArray(mask);
  aclDestroyBoolArray(nothing);
}

TEST_F(SizesTest, ConcatenationWhoseSizesOverflow) {
  std::vector<aclTensor*> parts(4);
  for (aclTensor*& part : parts) part = expanded(int64_t{1} << 62, ACL_INT8);
  parts.push_back(tensor({3}, ACL_INT8));
  aclTensorList* list = aclCreateTensorList(parts.data(), parts.size());
  expect_refused(aclnnCatGetWorkspaceSize(list, 0, tensor({3}, ACL_INT8), &bytes_, &executor_),
                 "the sum of the sizes does not fit");
  aclDestroyTensorList(list);
  tensors_.clear();  // the list owned them
}

TEST_F(SizesTest, RepeatsThatWrapAround) {
  expect_refused(aclnnRepeatGetWorkspaceSize(tensor({4}, ACL_FLOAT), array({(int64_t{1} << 62) + 1}),
                                             tensor({4}, ACL_FLOAT), &bytes_, &executor_),
                 "does not fit into 64 bits");
}

// ---- windows -----------------------------------------------------------------------------------------------------

TEST_F(SizesTest, WindowsOfUnfoldAreInts) {
  for (const int64_t dilation : {int64_t{1} << 62, int64_t{1} << 31, std::numeric_limits<int64_t>::max()}) {
    expect_refused(
        aclnnIm2colGetWorkspaceSize(tensor({1, 1, 1, 8}, ACL_FLOAT), array({1, 5}), array({1, dilation}), array({0, 0}),
                                    array({1, 1}), tensor({1, 5, 8}, ACL_FLOAT), &bytes_, &executor_),
        "it is 2147483647 or less");
  }
}

TEST_F(SizesTest, WindowsOfUnfoldThatAreInts) {
  const int64_t most = std::numeric_limits<int32_t>::max();
  expect_refused(aclnnIm2colGetWorkspaceSize(tensor({1, 1, 1, 8}, ACL_FLOAT), array({most, most}), array({most, most}),
                                             array({most, most}), array({most, most}), tensor({1, 5, 8}, ACL_FLOAT),
                                             &bytes_, &executor_),
                 "is needed");
}

TEST_F(SizesTest, AverageOverAWindowOf2To64Values) {
  expect_refused(
      aclnnAvgPool2dGetWorkspaceSize(tensor({1, 1, 4, 4}, ACL_INT64), array({int64_t{1} << 33, int64_t{1} << 33}),
                                     array({1, 1}), array({int64_t{1} << 32, int64_t{1} << 32}), false, true, 0, 0,
                                     tensor({1, 1, 5, 5}, ACL_INT64), &bytes_, &executor_),
      "it is 2147483647 or less");
}

// 2^22 * 2^21 * 2^21 values are 2^64, and 2^16 * 2^16 are 0 as an int32.
TEST_F(SizesTest, AverageOverMoreValuesThanTheTypeCounts) {
  const int64_t large = int64_t{1} << 22;
  const int64_t small = int64_t{1} << 21;
  expect_refused(aclnnAvgPool3dGetWorkspaceSize(tensor({1, 1, 2, 2, 2}, ACL_INT64), array({large, small, small}),
                                                array({1, 1, 1}), array({large / 2, small / 2, small / 2}), false, true,
                                                0, tensor({1, 1, 3, 3, 3}, ACL_INT64), &bytes_, &executor_),
                 "more values than the type counts");
  const int64_t half = int64_t{1} << 15;
  expect_refused(aclnnAvgPool2dGetWorkspaceSize(tensor({1, 1, 4, 4}, ACL_INT32), array({2 * half, 2 * half}),
                                                array({1, 1}), array({half, half}), false, true, 0, 0,
                                                tensor({1, 1, 5, 5}, ACL_INT32), &bytes_, &executor_),
                 "more values than the type counts");
  expect_refused(aclnnAvgPool2dGetWorkspaceSize(tensor({1, 1, 4, 4}, ACL_INT32), array({2, 2}), array({2, 2}),
                                                array({0, 0}), false, true, int64_t{1} << 32, 0,
                                                tensor({1, 1, 2, 2}, ACL_INT32), &bytes_, &executor_),
                 "more values than the type counts");
}

TEST_F(SizesTest, AnAverageByMinusOneWrapsAround) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  upload(memory_, least);
  ASSERT_EQ(aclnnAvgPool2dGetWorkspaceSize(tensor({1, 1, 1, 1}, ACL_INT64), array({1, 1}), array({1, 1}), array({0, 0}),
                                           false, true, -1, 0, tensor({1, 1, 1, 1}, ACL_INT64), &bytes_, &executor_),
            ACLNN_SUCCESS);
  ASSERT_EQ(aclnnAvgPool2d(nullptr, 0, std::exchange(executor_, nullptr), nullptr), ACLNN_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(download<int64_t>(memory_), least);
}

// A mask of 2^30 * 2^30 positions has 2^66 bytes per channel, which is 0 in 64 bits.
TEST_F(SizesTest, MaskSizeThatOverflows) {
  const int64_t kernel = int64_t{1} << 30;
  expect_refused(aclnnMaxPool2dWithMaskGetWorkspaceSize(tensor({1, 1, 3, 3}, ACL_FLOAT), array({kernel, kernel}),
                                                        array({1, 1}), array({kernel / 2, kernel / 2}), array({1, 1}),
                                                        false, tensor({1, 1, 4, 4}, ACL_FLOAT), tensor({0}, ACL_INT8),
                                                        &bytes_, &executor_),
                 "the mask of a channel does not fit");
}

TEST_F(SizesTest, AMaskByACraftedKernelAndDilation) {
  const int64_t kernel = int64_t{1} << 59;
  expect_refused(
      aclnnMaxPool2dWithMaskGetWorkspaceSize(tensor({1, 1, 8, 8}, ACL_FLOAT), array({kernel + 1, 1}), array({1, 1}),
                                             array({0, 0}), array({32, 1}), false, tensor({1, 1, 8, 8}, ACL_FLOAT),
                                             tensor({1, 1, 1, 160}, ACL_INT8), &bytes_, &executor_),
      "it is 2147483647 or less");
}

TEST_F(SizesTest, WindowsOfAConvolutionAreInts) {
  for (const bool transposed : {false, true}) {
    for (const int64_t number : {int64_t{1} << 31, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
      expect_refused(
          aclnnConvolutionGetWorkspaceSize(tensor({1, 1, 4, 4}, ACL_FLOAT), tensor({1, 1, 3, 3}, ACL_FLOAT), nullptr,
                                           array({1, 1}), array({number, 1}), array({number, 1}), transposed,
                                           array({0, 0}), 1, tensor({1, 1, 4, 4}, ACL_FLOAT), 0, &bytes_, &executor_),
          "it is 2147483647 or less");
    }
  }
}

// A result of (2^40 - 1) * (2^31 - 1) + 1 values.
TEST_F(SizesTest, AConvolutionToMoreThan64Bits) {
  const int64_t most = std::numeric_limits<int32_t>::max();
  expect_refused(
      aclnnConvolutionGetWorkspaceSize(tensor({1, 1, int64_t{1} << 40}, ACL_FLOAT, {0, 0, 0}),
                                       tensor({1, 1, 1}, ACL_FLOAT), nullptr, array({most}), array({0}), array({1}),
                                       true, array({0}), 1, tensor({1, 1, 4}, ACL_FLOAT), 0, &bytes_, &executor_),
      "a size of the result does not fit");
  expect_refused(aclnnConvolutionGetWorkspaceSize(tensor({1, 0, 4}, ACL_FLOAT),
                                                  tensor({1, int64_t{1} << 33, 1}, ACL_FLOAT, {0, 0, 0}), nullptr,
                                                  array({1}), array({0}), array({1}), false, nullptr, int64_t{1} << 31,
                                                  tensor({1, 1, 4}, ACL_FLOAT), 0, &bytes_, &executor_),
                 "the number of channels does not fit");
}

// Buffers for a row of 128 TiB are not needed where there is no row.
TEST_F(SizesTest, NoRowsNeedNoBuffers) {
  const Sizes sizes = {0, 1, 1, int64_t{1} << 44};
  ASSERT_EQ(
      aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(tensor(sizes, ACL_FLOAT), tensor(sizes, ACL_FLOAT), nullptr, 1.0,
                                                       true, tensor(sizes, ACL_FLOAT), &bytes_, &executor_),
      ACL_SUCCESS);
  EXPECT_EQ(aclnnScaledMaskedSoftmaxBackward(nullptr, 0, std::exchange(executor_, nullptr), nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
}

// 1 / 1e-300 is out of float's range: positions at 0 * inf and beyond.
TEST_F(SizesTest, ScalesThatLeadOutOfTheImage) {
  for (const double scale : {1e-300, 1e-30, 1e30}) {
    ASSERT_EQ(
        aclnnUpsampleNearestExact2dGetWorkspaceSize(tensor({1, 1, 2, 2}, ACL_FLOAT), array({3, 3}), scale, scale,
                                                    tensor({1, 1, 3, 3}, ACL_FLOAT, {9, 9, 3, 1}), &bytes_, &executor_),
        ACLNN_SUCCESS);
    ASSERT_EQ(aclnnUpsampleNearestExact2d(nullptr, 0, std::exchange(executor_, nullptr), nullptr), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << scale;
    ASSERT_EQ(aclnnUpsampleBilinear2dGetWorkspaceSize(tensor({1, 1, 2, 2}, ACL_FLOAT), array({3, 3}), false, scale,
                                                      scale, tensor({1, 1, 3, 3}, ACL_FLOAT), &bytes_, &executor_),
              ACLNN_SUCCESS);
    ASSERT_EQ(aclnnUpsampleBilinear2d(nullptr, 0, std::exchange(executor_, nullptr), nullptr), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << scale;
  }
}

// 2^57 keys, used by 2^6 queries, are more blocks than a plan lists.
TEST_F(SizesTest, MoreKeysThanAPlanLists) {
  const Sizes keys = {1, 1, int64_t{1} << 57, 8};
  expect_refused(aclnnFlashAttentionScoreGetWorkspaceSize(
                     tensor({1, 1, 64, 8}, ACL_FLOAT), tensor(keys, ACL_FLOAT, {0, 0, 0, 1}),
                     tensor(keys, ACL_FLOAT, {0, 0, 0, 1}), nullptr, tensor({8}, ACL_UINT8), nullptr, nullptr, nullptr,
                     1, 0.5, 65535, 65535, 1, "BNSD", 0, 0, nullptr, nullptr, nullptr, tensor({1, 1, 64, 8}, ACL_FLOAT),
                     &bytes_, &executor_),
                 "blocks of queries and keys are not planned");
}

// ---- results -----------------------------------------------------------------------------------------------------

TEST_F(SizesTest, ResultsThatOverlapThemselvesAreRefused) {
  struct Layout {
    Sizes sizes, strides;
  };
  for (const auto& [sizes, strides] : {Layout{{4}, {0}},
                                       {{2, 3}, {1, 0}},
                                       {{3, 3}, {1, 1}},
                                       {{3, 4}, {2, 1}},
                                       {{2, 2, 5}, {20, 3, 1}},
                                       {{3, 2}, {2, 4}}}) {
    aclTensor* out = tensor(sizes, ACL_FLOAT, strides);
    float zero = 0;
    aclScalar* value = aclCreateScalar(&zero, ACL_FLOAT);
    expect_refused(aclnnInplaceFillScalarGetWorkspaceSize(out, value, &bytes_, &executor_), "share a place in memory");
    expect_refused(
        aclnnAddGetWorkspaceSize(tensor(sizes, ACL_FLOAT), tensor(sizes, ACL_FLOAT), value, out, &bytes_, &executor_),
        "argument 4 is written");
    aclDestroyScalar(value);
  }
}

TEST_F(SizesTest, ResultsWithoutOverlapAreAccepted) {
  struct Layout {
    Sizes sizes, strides;
  };
  for (const auto& [sizes, strides] : {Layout{{4}, {1}},
                                       {{4}, {3}},
                                       {{1, 3}, {0, 1}},
                                       {{2, 3}, {1, 2}},
                                       {{2, 3}, {3, 2}},
                                       {{3, 1, 4}, {4, 0, 1}},
                                       {{0, 4}, {0, 0}},
                                       {{}, {}},
                                       {{2, 2, 5}, {20, 5, 1}},
                                       {{2, 3, 4}, {1, 8, 2}}}) {
    float zero = 0;
    aclScalar* value = aclCreateScalar(&zero, ACL_FLOAT);
    EXPECT_EQ(aclnnInplaceFillScalarGetWorkspaceSize(tensor(sizes, ACL_FLOAT, strides), value, &bytes_, &executor_),
              ACLNN_SUCCESS)
        << recent_error();
    EXPECT_EQ(aclDestroyAclOpExecutor(std::exchange(executor_, nullptr)), ACLNN_SUCCESS);
    aclDestroyScalar(value);
  }
}

TEST_F(SizesTest, SortedIndicesThatOverlap) {
  expect_refused(aclnnSortGetWorkspaceSize(tensor({8}, ACL_FLOAT), false, 0, false, tensor({8}, ACL_FLOAT),
                                           expanded(8, ACL_INT64), &bytes_, &executor_),
                 "argument 6 is written");
}

}  // namespace
