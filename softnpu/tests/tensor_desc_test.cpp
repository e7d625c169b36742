#include "ascendcl/tensor_desc.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

// The newest error text; reading clears it.
std::string error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

aclTensorDesc* make(const std::vector<int64_t>& dims, aclFormat format = ACL_FORMAT_ND, aclDataType dtype = ACL_FLOAT) {
  return aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), format);
}

std::vector<int64_t> dims_of(const aclTensorDesc* desc) {
  std::vector<int64_t> dims(aclGetTensorDescNumDims(desc));
  for (size_t i = 0; i < dims.size(); ++i) {
    EXPECT_EQ(aclGetTensorDescDimV2(desc, i, &dims[i]), ACL_SUCCESS) << error();
    EXPECT_EQ(aclGetTensorDescDim(desc, i), dims[i]);
  }
  return dims;
}

TEST(TensorDesc, ReturnsItsCreationArguments) {
  aclTensorDesc* desc = make({2, 3, 4}, ACL_FORMAT_NCL, ACL_FLOAT16);
  ASSERT_NE(desc, nullptr);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_FLOAT16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCL);
  EXPECT_EQ(dims_of(desc), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 24u);
  EXPECT_EQ(aclGetTensorDescSize(desc), 48u);
  EXPECT_STREQ(aclGetTensorDescName(desc), "");
  EXPECT_EQ(aclGetTensorDescAddress(desc), nullptr);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 0), desc);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 1), nullptr);
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, SizesOfEveryWidth) {
  struct Case {
    aclDataType dtype;
    std::vector<int64_t> dims;
    size_t bytes;
  };
  for (const Case& c : {Case{ACL_FLOAT, {}, 4}, Case{ACL_DOUBLE, {5, 0, 7}, 0}, Case{ACL_COMPLEX128, {3}, 48},
                        Case{ACL_INT4, {3}, 2}, Case{ACL_UINT1, {9}, 2}, Case{ACL_FLOAT6_E3M2, {4}, 3},
                        Case{ACL_STRING, {4}, 0}, Case{ACL_DT_UNDEFINED, {4}, 0}}) {
    aclTensorDesc* desc = make(c.dims, ACL_FORMAT_ND, c.dtype);
    EXPECT_EQ(aclGetTensorDescSize(desc), c.bytes) << "data type " << c.dtype;
    aclDestroyTensorDesc(desc);
  }
}

TEST(TensorDesc, UnknownSizesAndRank) {
  aclTensorDesc* desc = make({2, -1});
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 2u);
  EXPECT_EQ(aclGetTensorDescDim(desc, 1), -1);
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 0u);
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  aclDestroyTensorDesc(desc);

  desc = make({-2});
  ASSERT_NE(desc, nullptr);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), ACL_UNKNOWN_RANK);
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  int64_t size = 7;
  (void)error();
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 0, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(error().find("the number of sizes is not known yet"), std::string::npos);
  EXPECT_EQ(size, 7);
  int64_t ranges[1][2] = {{1, 2}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 1, ranges), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, InvalidShapesAreErrors) {
  (void)error();
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(error().find("aclCreateTensorDesc: a tensor of -1 dimensions [error 100000]"), std::string::npos);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(error().find("dims is null"), std::string::npos);
  EXPECT_EQ(make({2, -2}), nullptr);
  EXPECT_NE(error().find("size 1 is -2"), std::string::npos);
  EXPECT_EQ(make({-3}), nullptr);
  aclTensorDesc* scalar = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  EXPECT_EQ(aclGetTensorDescElementCount(scalar), 1u);
  aclDestroyTensorDesc(scalar);
}

TEST(TensorDesc, CountsThatOverflowAreErrors) {
  int64_t large = std::numeric_limits<int64_t>::max();
  aclTensorDesc* desc = make({large, 4});
  (void)error();
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 0u);
  EXPECT_NE(error().find("more elements than 64 bits count"), std::string::npos);
  aclDestroyTensorDesc(desc);
  desc = make({large});
  EXPECT_EQ(aclGetTensorDescSize(desc), 0u);
  EXPECT_NE(error().find("more bits than 64 bits count"), std::string::npos);
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, RangesOfSizes) {
  aclTensorDesc* desc = make({2, -1});
  std::array<int64_t, 2> range{};
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 2, range.data()), ACL_SUCCESS);
  EXPECT_EQ(range, (std::array<int64_t, 2>{2, 2}));
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 2, range.data()), ACL_ERROR_INVALID_PARAM);

  int64_t ranges[2][2] = {{2, 2}, {1, -1}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 1, ranges), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclSetTensorShapeRange(desc, 2, ranges), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 2, range.data()), ACL_SUCCESS);
  EXPECT_EQ(range, (std::array<int64_t, 2>{1, -1}));
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 2, 2, range.data()), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 1, range.data()), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 2, nullptr), ACL_ERROR_INVALID_PARAM);

  // A rejected range leaves the previous one.
  int64_t backwards[2][2] = {{2, 2}, {9, 3}};
  (void)error();
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, backwards), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(error().find("a size from 9 to 3"), std::string::npos);
  EXPECT_EQ(desc->shape_range[1], (aclTensorDesc::Range{1, -1}));

  int64_t values[1][2] = {{-5, 5}};
  EXPECT_EQ(aclSetTensorValueRange(desc, 1, values), ACL_SUCCESS);
  EXPECT_EQ(desc->value_range, (std::vector<aclTensorDesc::Range>{{-5, 5}}));
  EXPECT_EQ(aclSetTensorValueRange(desc, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorValueRange(desc, 0, nullptr), ACL_SUCCESS);
  EXPECT_TRUE(desc->value_range.empty());
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, SettersAreReadBack) {
  aclTensorDesc* desc = make({2, 3, 4, 5}, ACL_FORMAT_NCHW);
  const int64_t storage[] = {2, 1, 4, 5, 16};
  EXPECT_EQ(aclSetTensorFormat(desc, ACL_FORMAT_NC1HWC0), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorShape(desc, 5, storage), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorOriginFormat(desc, ACL_FORMAT_NHWC), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorOriginShape(desc, 2, storage), ACL_SUCCESS);
  EXPECT_EQ(desc->storage_format, ACL_FORMAT_NC1HWC0);
  EXPECT_EQ(desc->storage_dims, (std::vector<int64_t>{2, 1, 4, 5, 16}));
  EXPECT_EQ(desc->origin_format, ACL_FORMAT_NHWC);
  EXPECT_EQ(desc->origin_dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(dims_of(desc), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(aclSetTensorStorageFormat(desc, ACL_FORMAT_ND), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorStorageShape(desc, 1, storage), ACL_SUCCESS);
  EXPECT_EQ(desc->storage_format, ACL_FORMAT_ND);
  EXPECT_EQ(desc->storage_dims, (std::vector<int64_t>{2}));
  EXPECT_EQ(aclSetTensorShape(desc, -1, storage), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorOriginShape(desc, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(desc->storage_dims, (std::vector<int64_t>{2}));

  aclSetTensorDescName(desc, "x");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x");
  aclSetTensorDescName(desc, nullptr);
  EXPECT_STREQ(aclGetTensorDescName(desc), "");
  EXPECT_EQ(aclSetTensorDynamicInput(desc, "xs"), ACL_SUCCESS);
  EXPECT_EQ(desc->dynamic_input, "xs");
  EXPECT_EQ(aclSetTensorDynamicInput(desc, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST), ACL_SUCCESS);
  EXPECT_EQ(desc->placement, ACL_MEMTYPE_HOST);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, static_cast<aclMemType>(3)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(desc->placement, ACL_MEMTYPE_HOST);
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, ConstantsAreCopied) {
  aclTensorDesc* desc = make({2}, ACL_FORMAT_ND, ACL_INT32);
  std::array<int32_t, 2> values = {7, 8};
  ASSERT_EQ(aclSetTensorConst(desc, values.data(), sizeof values), ACL_SUCCESS);
  values = {};
  const auto* kept = static_cast<const int32_t*>(aclGetTensorDescAddress(desc));
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept[0], 7);
  EXPECT_EQ(kept[1], 8);
  EXPECT_EQ(aclSetTensorConst(desc, nullptr, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(desc->constant->size(), sizeof values);
  aclDestroyTensorDesc(desc);
}

TEST(TensorDesc, SizesArePermutedWithTheFormat) {
  aclTensorDesc* nchw = make({2, 3, 4, 5}, ACL_FORMAT_NCHW);
  int64_t ranges[4][2] = {{2, 2}, {3, 3}, {4, 4}, {1, 5}};
  ASSERT_EQ(aclSetTensorShapeRange(nchw, 4, ranges), ACL_SUCCESS);
  ASSERT_EQ(aclSetTensorFormat(nchw, ACL_FORMAT_NC1HWC0), ACL_SUCCESS);
  struct Case {
    aclFormat format;
    std::vector<int64_t> dims;
  };
  for (const Case& c : {Case{ACL_FORMAT_NCHW, {2, 3, 4, 5}}, Case{ACL_FORMAT_NHWC, {2, 4, 5, 3}},
                        Case{ACL_FORMAT_HWCN, {4, 5, 3, 2}}}) {
    aclTensorDesc* result = nullptr;
    ASSERT_EQ(aclTransTensorDescFormat(nchw, c.format, &result), ACL_SUCCESS) << error();
    EXPECT_EQ(dims_of(result), c.dims);
    EXPECT_EQ(aclGetTensorDescFormat(result), c.format);
    EXPECT_FALSE(result->storage_format.has_value());
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(result->shape_range[i][1], c.dims[i]);
    aclTensorDesc* back = nullptr;
    ASSERT_EQ(aclTransTensorDescFormat(result, ACL_FORMAT_NCHW, &back), ACL_SUCCESS) << error();
    EXPECT_EQ(dims_of(back), dims_of(nchw));
    aclDestroyTensorDesc(result);
    aclDestroyTensorDesc(back);
  }
  aclTensorDesc* result = nchw;
  for (aclFormat format : {ACL_FORMAT_NC1HWC0, ACL_FORMAT_NDHWC, ACL_FORMAT_ND}) {
    EXPECT_EQ(aclTransTensorDescFormat(nchw, format, &result), ACL_ERROR_FORMAT_NOT_MATCH);
    EXPECT_EQ(result, nullptr);
  }
  EXPECT_EQ(aclTransTensorDescFormat(nchw, ACL_FORMAT_NHWC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclTransTensorDescFormat(nullptr, ACL_FORMAT_NHWC, &result), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(nchw);
  aclTensorDesc* short_one = make({2, 3}, ACL_FORMAT_NCHW);
  EXPECT_EQ(aclTransTensorDescFormat(short_one, ACL_FORMAT_NHWC, &result), ACL_ERROR_FORMAT_NOT_MATCH);
  aclDestroyTensorDesc(short_one);
}

// Calls every function with an invalid handle: an error code or a neutral value, and a message.
void expect_refused(aclTensorDesc* desc, const std::string& says) {
  (void)error();
  auto refused = [&](aclError code) {
    EXPECT_EQ(code, ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(error().find(says), std::string::npos);
  };
  auto neutral = [&](auto value, auto expected) {
    EXPECT_EQ(value, expected);
    EXPECT_NE(error().find(says), std::string::npos);
  };
  int64_t numbers[2][2] = {};
  aclTensorDesc* result = nullptr;
  neutral(aclGetTensorDescType(desc), ACL_DT_UNDEFINED);
  neutral(aclGetTensorDescFormat(desc), ACL_FORMAT_UNDEFINED);
  neutral(aclGetTensorDescSize(desc), 0u);
  neutral(aclGetTensorDescElementCount(desc), 0u);
  neutral(aclGetTensorDescNumDims(desc), 0u);
  neutral(aclGetTensorDescDim(desc, 0), -1);
  neutral(std::string(aclGetTensorDescName(desc)), "");
  neutral(aclGetTensorDescByIndex(desc, 0), nullptr);
  neutral(aclGetTensorDescAddress(desc), nullptr);
  refused(aclGetTensorDescDimV2(desc, 0, numbers[0]));
  refused(aclGetTensorDescDimRange(desc, 0, 2, numbers[0]));
  refused(aclTransTensorDescFormat(desc, ACL_FORMAT_ND, &result));
  refused(aclSetTensorShapeRange(desc, 1, numbers));
  refused(aclSetTensorValueRange(desc, 1, numbers));
  refused(aclSetTensorStorageFormat(desc, ACL_FORMAT_ND));
  refused(aclSetTensorStorageShape(desc, 1, numbers[0]));
  refused(aclSetTensorFormat(desc, ACL_FORMAT_ND));
  refused(aclSetTensorShape(desc, 1, numbers[0]));
  refused(aclSetTensorOriginFormat(desc, ACL_FORMAT_ND));
  refused(aclSetTensorOriginShape(desc, 1, numbers[0]));
  refused(aclSetTensorDynamicInput(desc, "x"));
  refused(aclSetTensorConst(desc, numbers, sizeof numbers));
  refused(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST));
  aclSetTensorDescName(desc, "x");
  EXPECT_NE(error().find(says), std::string::npos);
}

TEST(TensorDesc, InvalidHandlesAreErrors) {
  expect_refused(nullptr, "the tensor description is null");
  aclTensorDesc* desc = make({1});
  aclDestroyTensorDesc(desc);
  expect_refused(desc, "is no live tensor description");
  int foreign = 0;
  expect_refused(reinterpret_cast<aclTensorDesc*>(&foreign), "is no live tensor description");

  aclDestroyTensorDesc(desc);
  EXPECT_NE(error().find("aclDestroyTensorDesc"), std::string::npos);
  aclDestroyTensorDesc(nullptr);
  EXPECT_EQ(error(), "");
}

TEST(TensorDesc, ManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 300;
  aclTensorDesc* shared = make({1, 2, 3});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([shared, t] {
      for (int i = 0; i < kRounds; ++i) {
        aclTensorDesc* own = make({t, i});
        EXPECT_EQ(aclSetTensorFormat(own, ACL_FORMAT_ND), ACL_SUCCESS);
        EXPECT_EQ(aclGetTensorDescElementCount(own), static_cast<size_t>(t) * static_cast<size_t>(i));
        EXPECT_EQ(aclGetTensorDescSize(shared), 24u);
        aclDestroyTensorDesc(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  aclDestroyTensorDesc(shared);
}

// Readers either get the whole description or an error that it is gone.
TEST(TensorDesc, DestroyedWhileOthersRead) {
  for (int round = 0; round < 50; ++round) {
    aclTensorDesc* desc = make({2, 3});
    std::vector<std::thread> readers;
    for (int t = 0; t < 4; ++t) {
      readers.emplace_back([desc] {
        for (int i = 0; i < 20; ++i) {
          size_t size = aclGetTensorDescSize(desc);
          EXPECT_TRUE(size == 24 || size == 0) << size;
        }
      });
    }
    aclDestroyTensorDesc(desc);
    for (std::thread& reader : readers) reader.join();
  }
}

}  // namespace
