// Invalid casts: an error with a message, and unchanged memory.

#include "format/cast_fixture.h"

namespace format_test {
namespace {

constexpr aclFormat kNz = ACL_FORMAT_FRACTAL_NZ;

// A float32 tensor of `dims`, with memory for its storage shape.
struct CreatedTensor : Tensor {
  CreatedTensor(const Dims& dims, aclFormat format, const Dims& storage_shape, aclDataType dtype = ACL_FLOAT)
      : Tensor(dtype, dims, contiguous(dims), 0, format, storage_shape,
               Bytes(static_cast<size_t>(std::max(product(storage_shape), product(dims))) * aclDataTypeSize(dtype))) {}
};

TEST_F(FormatTest, WrongStorageShapesAreRefused) {
  const CreatedTensor src({20, 20}, ACL_FORMAT_ND, {400});
  for (const Dims& storage_shape : std::vector<Dims>{{2, 2, 16, 8}, {1, 2, 16, 16}, {2, 2, 16}, {2, 1, 2, 16, 16}}) {
    expect_refused(src.handle, CreatedTensor({20, 20}, kNz, storage_shape).handle, "in memory where [");
  }
  expect_refused(src.handle, CreatedTensor({20, 20}, kNz, {2, 2, 16, 12}).handle, "the last is 2, 4, 8, 16 or 32");
  expect_refused(src.handle, CreatedTensor({20, 20}, kNz, {}).handle, "the last is 2, 4, 8, 16 or 32");
  expect_refused(src.handle, CreatedTensor({20, 20}, ACL_FORMAT_FRACTAL_NZ_C0_8, {2, 2, 16, 16}).handle,
                 "[3, 2, 16, 8]");
  expect_refused(CreatedTensor({20, 20}, kNz, {2, 2, 16, 12}).handle, src.handle, "srcTensor in the format FRACTAL_NZ");
}

TEST_F(FormatTest, SizesThatDoNotMatchTheFormatAreRefused) {
  const CreatedTensor image({2, 3, 4, 5}, ACL_FORMAT_NCHW, {120});
  const CreatedTensor volume({2, 3, 4, 5, 6}, ACL_FORMAT_NCDHW, {720});
  expect_refused(image.handle, CreatedTensor({2, 3, 4, 5}, ACL_FORMAT_NDC1HWC0, {2, 3, 1, 4, 5, 16}).handle,
                 "NDC1HWC0 is for NCDHW, and there are 4 sizes");
  expect_refused(volume.handle, CreatedTensor({2, 3, 4, 5, 6}, ACL_FORMAT_NC1HWC0, {2, 1, 4, 5, 16}).handle,
                 "NC1HWC0 is for NCHW, and there are 5 sizes");
  expect_refused(CreatedTensor({2, 3, 4}, ACL_FORMAT_NHWC, {24}).handle,
                 CreatedTensor({2, 3, 4}, kNz, {2, 1, 1, 16, 16}).handle, "3 sizes are not NHWC");
  expect_refused(CreatedTensor({1, 2, 1, 2, 1, 2}, ACL_FORMAT_ND, {8}).handle,
                 CreatedTensor({1, 2, 1, 2, 1, 2}, ACL_FORMAT_FRACTAL_Z, {2, 1, 16, 16}).handle, "6 sizes are neither");
  expect_refused(image.handle, CreatedTensor({2, 3, 5, 4}, ACL_FORMAT_NC1HWC0, {2, 1, 5, 4, 16}).handle,
                 "the sizes differ");
  expect_refused(image.handle, CreatedTensor({2, 3, 5, 4}, ACL_FORMAT_NCHW, {120}).handle, "the sizes differ");
  expect_refused(CreatedTensor({16, 16}, kNz, {1, 1, 16, 16}).handle,
                 CreatedTensor({16, 1}, kNz, {1, 1, 16, 16}).handle, "the sizes differ");
  for (const int format : {-1, 5, 99, 1 << 20}) {
    const CreatedTensor unknown({2, 3, 4, 5}, static_cast<aclFormat>(format), {120});
    expect_refused(image.handle, unknown.handle, "is none of those that are cast");
    expect_refused(unknown.handle, image.handle, "is none of those that are cast");
    expect_refused(unknown.handle, CreatedTensor({2, 3, 4, 5}, ACL_FORMAT_NC1HWC0, {2, 1, 4, 5, 16}).handle,
                   "is none of those that are cast");
  }
}

TEST_F(FormatTest, IncompatibleTensorsAreRefused) {
  const CreatedTensor src({20, 20}, ACL_FORMAT_ND, {400});
  expect_refused(src.handle, CreatedTensor({20, 20}, kNz, {2, 2, 16, 16}, ACL_INT32).handle, "differ in data type");
  Tensor transposed(ACL_FLOAT, {20, 20}, {1, 20}, 0, kNz, {2, 2, 16, 16}, Bytes(4096));
  expect_refused(src.handle, transposed.handle, "is a view");
  Tensor behind(ACL_FLOAT, {20, 20}, {20, 1}, 4, kNz, {2, 2, 16, 16}, Bytes(8192));
  expect_refused(src.handle, behind.handle, "is a view");
  Tensor reversed(ACL_FLOAT, {20, 20}, {20, -1}, 19, ACL_FORMAT_ND, {400}, Bytes(1600));
  expect_refused(reversed.handle, CreatedTensor({20, 20}, kNz, {2, 2, 16, 16}).handle, "negative stride");
}

TEST_F(FormatTest, MissingMemoryIsRefused) {
  const CreatedTensor src({20, 20}, ACL_FORMAT_ND, {400});
  Tensor small(ACL_FLOAT, {20, 20}, {20, 1}, 0, kNz, {2, 2, 16, 16}, Bytes(4000));
  expect_refused(src.handle, small.handle, "4096 bytes of device memory");
  const Dims dims = {20, 20};
  const Dims storage_shape = {2, 2, 16, 16};
  aclTensor* none =
      aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 0, kNz, storage_shape.data(), storage_shape.size(), nullptr);
  EXPECT_EQ(cast(src.handle, none), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(cast(none, src.handle), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(cast(nullptr, src.handle), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(cast(src.handle, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  aclDestroyTensor(none);
  aclTensor* inside = aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 0, kNz, storage_shape.data(),
                                      storage_shape.size(), src.device);
  expect_refused(src.handle, inside, "");
  aclDestroyTensor(inside);
}

TEST_F(FormatTest, OverlappingMemoryIsRefused) {
  const CreatedTensor room({64, 64}, ACL_FORMAT_ND, {4096});
  const Dims dims = {20, 20};
  const Dims storage_shape = {2, 2, 16, 16};
  aclTensor* nz = aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 0, kNz, storage_shape.data(), 4, room.device);
  aclTensor* nd =
      aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 1000, ACL_FORMAT_ND, storage_shape.data(), 4, room.device);
  aclTensor* free =
      aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 1024, ACL_FORMAT_ND, storage_shape.data(), 4, room.device);
  expect_refused(nd, nz, "share memory");
  expect_refused(nz, nd, "share memory");
  expect_refused(nz, nz, "share memory");
  EXPECT_EQ(cast(free, nz), ACLNN_SUCCESS) << recent_error();
  for (aclTensor* tensor : {nz, nd, free}) aclDestroyTensor(tensor);
}

TEST_F(FormatTest, SizesBeyondWhat64BitsCount) {
  const Dims huge = {int64_t{1} << 60, 2};
  const Dims few = {int64_t{1} << 50, 1};
  const Dims none = {0, int64_t{1} << 62, 9, 9};
  const Dims storage_shape = {1, int64_t{1} << 46, 16, 32};
  const CreatedTensor src({20, 20}, ACL_FORMAT_ND, {400});
  for (const Dims& dims : {huge, few, none}) {
    aclTensor* from = aclCreateTensor(dims.data(), dims.size(), ACL_INT8, nullptr, 0, ACL_FORMAT_ND,
                                      storage_shape.data(), 4, src.device);
    aclTensor* to =
        aclCreateTensor(dims.data(), dims.size(), ACL_INT8, nullptr, 0, kNz, storage_shape.data(), 4, src.device);
    ASSERT_NE(from, nullptr) << recent_error();
    expect_refused(from, to, "");
    expect_refused(to, from, "");
    aclDestroyTensor(from);
    aclDestroyTensor(to);
  }
}

}  // namespace
}  // namespace format_test
