// The sizes in memory that a cast needs, and requests that are no casts.

#include <memory>

#include "aclnnop/aclnn_npu_format_cast_calculate_size_and_format.h"
#include "format/cast_fixture.h"

namespace format_test {
namespace {

class SizeTest : public FormatTest {
 protected:
  // Without memory: these functions need none.
  static aclTensor* make(const Dims& dims, aclFormat format, aclDataType dtype) {
    return aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, format, dims.data(), dims.size(), nullptr);
  }

  static Dims sizes(const Dims& dims, aclFormat from, aclDataType dtype, aclFormat to, int additional) {
    aclTensor* src = make(dims, from, dtype);
    int64_t* storage_shape = nullptr;
    uint64_t count = 0;
    int actual = -2;
    EXPECT_EQ(aclnnNpuFormatCastCalculateSizeAndFormat(src, to, additional, &storage_shape, &count, &actual),
              ACLNN_SUCCESS)
        << recent_error();
    aclDestroyTensor(src);
    EXPECT_EQ(actual, to);
    const std::unique_ptr<int64_t[]> owner(storage_shape);
    return {storage_shape, storage_shape + count};
  }

  static void expect_invalid(const Dims& dims, aclFormat from, int to, int additional, const std::string& message) {
    aclTensor* src = make(dims, from, ACL_FLOAT16);
    int64_t* storage_shape = nullptr;
    uint64_t count = 0;
    int actual = 0;
    EXPECT_EQ(aclnnNpuFormatCastCalculateSizeAndFormat(src, to, additional, &storage_shape, &count, &actual),
              ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(storage_shape, nullptr);
    EXPECT_NE(recent_error().find(message), std::string::npos) << recent_error();
    aclDestroyTensor(src);
  }
};

TEST_F(SizeTest, EveryFormat) {
  for (const Format& format : formats()) {
    const bool is_volume = format.format == ACL_FORMAT_NDC1HWC0 || format.format == ACL_FRACTAL_Z_3D;
    const Dims dims = is_volume ? Dims{20, 33, 3, 5, 7} : Dims{20, 33, 5, 7};
    const aclFormat plain = is_volume ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW;
    const int64_t c0 = format.block == 0 ? 16 : format.block;
    SCOPED_TRACE(format.name);
    EXPECT_EQ(sizes(dims, plain, ACL_FLOAT16, format.format, ACL_FLOAT16), sizes_in_memory(format, plain, dims, c0));
  }
}

// As in Ascend/pytorch's tests: 32 bytes of the named type.
TEST_F(SizeTest, BlocksOfMatricesFollowTheNamedType) {
  const Dims dims = {15, 17};
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16), (Dims{2, 1, 16, 16}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_INT32, ACL_FORMAT_FRACTAL_NZ, ACL_INT32), (Dims{3, 1, 16, 8}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_INT8, ACL_FORMAT_FRACTAL_NZ, ACL_INT8), (Dims{1, 1, 16, 32}));
  EXPECT_EQ(sizes({4, 15, 17}, ACL_FORMAT_NCL, ACL_INT32, ACL_FORMAT_FRACTAL_NZ, ACL_INT32), (Dims{4, 3, 1, 16, 8}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_INT64, ACL_FORMAT_FRACTAL_NZ, ACL_INT64), (Dims{5, 1, 16, 4}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_COMPLEX128, ACL_FORMAT_FRACTAL_NZ, ACL_COMPLEX128), (Dims{9, 1, 16, 2}));
  // Without a type: as the plug-in allocates.
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ, ACL_DT_UNDEFINED), (Dims{2, 1, 16, 16}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_BOOL, ACL_FORMAT_FRACTAL_NZ, ACL_DT_UNDEFINED), (Dims{1, 1, 16, 32}));
  EXPECT_EQ(sizes(dims, ACL_FORMAT_ND, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ_C0_4, ACL_INT8), (Dims{5, 1, 16, 4}));
}

TEST_F(SizeTest, FewSizesAreChannelsFirst) {
  EXPECT_EQ(sizes({20}, ACL_FORMAT_ND, ACL_FLOAT, ACL_FORMAT_NC1HWC0, ACL_FLOAT), (Dims{1, 2, 1, 1, 16}));
  EXPECT_EQ(sizes({20, 3}, ACL_FORMAT_ND, ACL_FLOAT, ACL_FORMAT_NC1HWC0, ACL_FLOAT), (Dims{1, 2, 3, 1, 16}));
  EXPECT_EQ(sizes({20, 3, 4}, ACL_FORMAT_NCL, ACL_FLOAT, ACL_FORMAT_FRACTAL_Z, ACL_FLOAT), (Dims{24, 1, 16, 16}));
  EXPECT_EQ(sizes({20}, ACL_FORMAT_ND, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16), (Dims{1, 2, 16, 16}));
  EXPECT_EQ(sizes({}, ACL_FORMAT_ND, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16), (Dims{1, 1, 16, 16}));
  EXPECT_EQ(sizes({0, 5}, ACL_FORMAT_ND, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16), (Dims{1, 0, 16, 16}));
}

TEST_F(SizeTest, PlainFormatsHaveTheTensorsSizes) {
  EXPECT_EQ(sizes({15, 17}, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16, ACL_FORMAT_ND, ACL_FLOAT16), (Dims{15, 17}));
  EXPECT_EQ(sizes({2, 3, 4, 5}, ACL_FORMAT_NC1HWC0, ACL_FLOAT16, ACL_FORMAT_NHWC, ACL_FLOAT16), (Dims{2, 4, 5, 3}));
  EXPECT_EQ(sizes({2, 3, 4, 5}, ACL_FORMAT_NCHW, ACL_FLOAT16, ACL_FORMAT_HWCN, ACL_FLOAT16), (Dims{4, 5, 3, 2}));
  EXPECT_EQ(sizes({2, 4, 5, 3}, ACL_FORMAT_NHWC, ACL_FLOAT16, ACL_FORMAT_NC1HWC0, ACL_FLOAT16), (Dims{2, 1, 4, 5, 16}));
}

TEST_F(SizeTest, InvalidCastsAreErrors) {
  expect_invalid({15, 17}, ACL_FORMAT_ND, 5, ACL_FLOAT16, "the format 5 is none");
  expect_invalid({15, 17}, ACL_FORMAT_ND, -1, ACL_FLOAT16, "the format -1 is none");
  expect_invalid({15, 17}, ACL_FORMAT_ND, 1 << 30, ACL_FLOAT16, "is none of those");
  expect_invalid({15, 17}, ACL_FORMAT_UNDEFINED, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16, "the format -1 is none");
  expect_invalid({15, 17}, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, 4711, "additionalDtype 4711");
  expect_invalid({15, 17}, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_INT4, "additionalDtype 29");
  expect_invalid({15, 17}, ACL_FORMAT_ND, ACL_FORMAT_NDC1HWC0, ACL_FLOAT16, "NDC1HWC0 is for NCDHW");
  expect_invalid({1, 2, 3, 4, 5}, ACL_FORMAT_NCDHW, ACL_FORMAT_NC1HWC0, ACL_FLOAT16, "NC1HWC0 is for NCHW");
  expect_invalid({int64_t{1} << 57, 1}, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16, "are too large for");
  expect_invalid({8, int64_t{1} << 55, 1}, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, ACL_INT8, "are too large for");
  aclTensor* src = make({2, 2}, ACL_FORMAT_ND, ACL_FLOAT);
  int64_t* storage_shape = nullptr;
  uint64_t count = 0;
  int actual = 0;
  const auto call = [&](const aclTensor* tensor, int64_t** sizes, uint64_t* many, int* format) {
    return aclnnNpuFormatCastCalculateSizeAndFormat(tensor, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT, sizes, many, format);
  };
  EXPECT_EQ(call(nullptr, &storage_shape, &count, &actual), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(call(src, nullptr, &count, &actual), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(call(src, &storage_shape, nullptr, &actual), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(call(src, &storage_shape, &count, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  aclDestroyTensor(src);
  EXPECT_EQ(call(src, &storage_shape, &count, &actual), ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
}  // namespace format_test
