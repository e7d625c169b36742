// Casts between formats against the formulas: every blocked format, every element size, both directions.

#include <cstring>

#include "format/cast_fixture.h"

namespace format_test {
namespace {

constexpr aclDataType kTypes[] = {ACL_INT8, ACL_BF16, ACL_FLOAT, ACL_INT64, ACL_COMPLEX128, ACL_FLOAT8_E4M3FN};

// The layout of a plain tensor: contiguous, transposed, or with gaps and an offset.
enum class Lie { kDense, kTurned, kGaps };

Dims strides_of(const Dims& dims, Lie lie) {
  if (lie == Lie::kDense) return contiguous(dims);
  Dims strides(dims.size());
  int64_t next = lie == Lie::kGaps ? 2 : 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = lie == Lie::kGaps ? dims.size() - 1 - i : i;
    strides[dim] = next;
    next *= dims[dim] + (lie == Lie::kGaps ? 1 : 0);
  }
  return strides;
}

size_t reach(const Dims& dims, const Dims& strides, int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return 0;
    last += (dims[i] - 1) * strides[i];
  }
  return static_cast<size_t>(last + 1);
}

// Calls body(index) for each element.
template <typename Body>
void for_each_index(const Dims& dims, const Body& body) {
  Dims index(dims.size());
  for (int64_t left = product(dims); left > 0; --left) {
    body(index);
    for (size_t i = dims.size(); i-- > 0;) {
      if (++index[i] < dims[i]) break;
      index[i] = 0;
    }
  }
}

struct Case {
  aclFormat format;
  aclFormat plain;
  Dims dims;
  int64_t c0;
};

// Casts into blocks and back, and compares every byte in memory with the formula.
void check(const Case& c, aclDataType dtype, Lie lie, const std::function<aclnnStatus(aclTensor*, aclTensor*)>& cast) {
  const Format& format = format_of(c.format);
  const size_t element = aclDataTypeSize(dtype);
  const std::string names = letters(c.plain, c.dims.size(), is_matrix(c.format));
  const Letters sizes = sizes_by_letter(names, c.dims);
  const Dims storage_shape = sizes_in_memory(format, c.plain, c.dims, c.c0);
  const Dims strides = strides_of(c.dims, lie);
  const int64_t offset = lie == Lie::kGaps ? 3 : 0;
  const size_t bytes = reach(c.dims, strides, offset) * element;
  const size_t storage_bytes = static_cast<size_t>(product(storage_shape)) * element;

  const Tensor plain(dtype, c.dims, strides, offset, c.plain, {static_cast<int64_t>(bytes / element)},
                     random_bytes(bytes));
  const Tensor blocks(dtype, c.dims, contiguous(c.dims), 0, c.format, storage_shape, random_bytes(storage_bytes));
  const Tensor back(dtype, c.dims, strides, offset, c.plain, {static_cast<int64_t>(bytes / element)},
                    random_bytes(bytes));
  Bytes blocked(storage_bytes, 0);
  Bytes in_back = back.host;
  for_each_index(c.dims, [&](const Dims& index) {
    int64_t at = offset;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
    const auto from = static_cast<size_t>(at) * element;
    const auto to = static_cast<size_t>(format.location(sizes, index_by_letter(names, c.dims, index), c.c0)) * element;
    ASSERT_LE(to + element, storage_bytes);
    std::memcpy(blocked.data() + to, plain.host.data() + from, element);
    std::memcpy(in_back.data() + from, plain.host.data() + from, element);
  });
  ASSERT_EQ(cast(plain.handle, blocks.handle), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_TRUE(blocks.download() == blocked) << "packed";
  ASSERT_EQ(cast(blocks.handle, back.handle), ACLNN_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_TRUE(back.download() == in_back) << "unpacked";
  ASSERT_TRUE(plain.download() == plain.host);
}

std::string message(const Case& c, aclDataType dtype, Lie lie) {
  std::string sizes;
  for (int64_t size : c.dims) sizes.append(" ").append(std::to_string(size));
  return format_of(c.format).name + ", plain format " + std::to_string(c.plain) + ", sizes" + sizes + ", type " +
         std::to_string(dtype) + ", strides " + std::to_string(static_cast<int>(lie)) + ", C0 " + std::to_string(c.c0);
}

class CastTest : public FormatTest, public ::testing::WithParamInterface<aclDataType> {
 protected:
  void check_all(aclFormat format, aclFormat plain, const std::vector<Dims>& sizes, int64_t c0 = 0) {
    for (const Dims& dims : sizes) {
      for (const Lie lie : {Lie::kDense, Lie::kTurned, Lie::kGaps}) {
        const Case c{format, plain, dims, c0 == 0 ? format_of(format).block : c0};
        SCOPED_TRACE(message(c, GetParam(), lie));
        check(c, GetParam(), lie, &cast);
        if (HasFatalFailure()) return;
      }
    }
  }
};

const std::vector<Dims> kImages = {{2, 33, 5, 7},  {1, 16, 4, 4}, {3, 3, 17, 19}, {35, 40, 3, 3},
                                   {17, 20, 1, 1}, {1, 1, 1, 1},  {2, 48, 1, 70}, {5, 31, 65, 2},
                                   {0, 3, 4, 5},   {2, 0, 4, 5},  {2, 3, 4, 0},   {2, 64, 40, 41}};
const std::vector<Dims> kVolumes = {{2, 33, 3, 5, 7}, {1, 16, 2, 4, 4}, {18, 3, 3, 3, 3}, {1, 1, 1, 1, 1},
                                    {2, 17, 4, 1, 1}, {0, 3, 4, 5, 6},  {2, 20, 0, 5, 6}, {2, 40, 3, 8, 17}};
const std::vector<Dims> kMatrices = {{15, 17},
                                     {16, 16},
                                     {1, 1},
                                     {100, 3},
                                     {3, 100},
                                     {64, 64},
                                     {0, 5},
                                     {5, 0},
                                     {7},
                                     {},
                                     {2, 31, 33},
                                     {3, 2, 16, 40},
                                     {2, 3, 1, 17, 18},
                                     {0, 20, 20},
                                     {300, 1},
                                     {33, 500},
                                     {2, 1, 2, 1, 2, 3, 20}};

TEST_P(CastTest, Images) {
  for (const aclFormat format : {ACL_FORMAT_NC1HWC0, ACL_FORMAT_NC1HWC0_C04, ACL_FORMAT_FRACTAL_Z}) {
    for (const aclFormat plain : {ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_HWCN}) check_all(format, plain, kImages);
    check_all(format, ACL_FORMAT_ND, {{2, 33, 5, 7}, {20, 5, 6}, {33, 18}, {19}, {}});
    check_all(format, ACL_FORMAT_NCL, {{20, 5, 6}});
  }
}

TEST_P(CastTest, Volumes) {
  for (const aclFormat format : {ACL_FORMAT_NDC1HWC0, ACL_FRACTAL_Z_3D}) {
    for (const aclFormat plain : {ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC, ACL_FORMAT_ND}) {
      check_all(format, plain, kVolumes);
    }
  }
}

TEST_P(CastTest, MatrixSizes) {
  for (const aclFormat format : {ACL_FORMAT_FRACTAL_NZ_C0_2, ACL_FORMAT_FRACTAL_NZ_C0_4, ACL_FORMAT_FRACTAL_NZ_C0_8,
                                 ACL_FORMAT_FRACTAL_NZ_C0_16, ACL_FORMAT_FRACTAL_NZ_C0_32}) {
    check_all(format, ACL_FORMAT_ND, kMatrices);
  }
  for (const int64_t c0 : {2, 4, 8, 16, 32}) {
    check_all(ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_ND, kMatrices, c0);
    check_all(ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NHWC, {{3, 2, 16, 40}}, c0);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CastTest, ::testing::ValuesIn(kTypes));

// Large enough for all threads.
TEST_F(FormatTest, LargeTensors) {
  for (const Case& c : {Case{ACL_FORMAT_NC1HWC0, ACL_FORMAT_NCHW, {4, 70, 61, 67}, 16},
                        Case{ACL_FORMAT_NC1HWC0, ACL_FORMAT_NHWC, {4, 61, 67, 70}, 16},
                        Case{ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_NCHW, {270, 250, 3, 3}, 16},
                        Case{ACL_FRACTAL_Z_3D, ACL_FORMAT_NCDHW, {100, 90, 3, 3, 3}, 16},
                        Case{ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_ND, {1000, 777}, 16},
                        Case{ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_ND, {3, 8, 20000}, 16}}) {
    for (const Lie lie : {Lie::kDense, Lie::kTurned}) {
      SCOPED_TRACE(message(c, ACL_FLOAT16, lie));
      check(c, ACL_FLOAT16, lie, &cast);
    }
  }
}

// Broadcast: one element in memory for several of the tensor.
TEST_F(FormatTest, BroadcastElements) {
  const Tensor src(ACL_FLOAT, {20, 20}, {0, 1}, 0, ACL_FORMAT_ND, {20}, random_bytes(80));
  const Tensor dst(ACL_FLOAT, {20, 20}, {20, 1}, 0, ACL_FORMAT_FRACTAL_NZ, {2, 2, 16, 16}, Bytes(4096));
  ASSERT_EQ(cast(src.handle, dst.handle), ACLNN_SUCCESS) << recent_error();
  const Bytes now = dst.download();
  for (size_t row = 0; row < 20; ++row) EXPECT_EQ(std::memcmp(now.data() + row * 64, src.host.data(), 64), 0);
}

// From blocks to blocks, and back through a third blocked format.
TEST_F(FormatTest, BetweenBlocks) {
  const Dims dims = {19, 21, 3, 5};
  const Format& images = format_of(ACL_FORMAT_NC1HWC0);
  const Dims of_images = sizes_in_memory(images, ACL_FORMAT_NCHW, dims, 16);
  const Dims of_weights = sizes_in_memory(format_of(ACL_FORMAT_FRACTAL_Z), ACL_FORMAT_NCHW, dims, 16);
  const Dims of_matrices = sizes_in_memory(format_of(ACL_FORMAT_FRACTAL_NZ), ACL_FORMAT_ND, dims, 8);
  const auto make = [&](aclFormat format, const Dims& storage_shape) {
    return Tensor(ACL_FLOAT, dims, contiguous(dims), 0, format, storage_shape,
                  random_bytes(static_cast<size_t>(product(storage_shape)) * 4));
  };
  const Tensor plain(ACL_FLOAT, dims, contiguous(dims), 0, ACL_FORMAT_NCHW, dims,
                     random_bytes(static_cast<size_t>(product(dims)) * 4));
  const Tensor first = make(ACL_FORMAT_NC1HWC0, of_images);
  const Tensor second = make(ACL_FORMAT_FRACTAL_Z, of_weights);
  const Tensor third = make(ACL_FORMAT_FRACTAL_NZ, of_matrices);
  const Tensor weights = make(ACL_FORMAT_FRACTAL_Z, of_weights);
  const Tensor back = make(ACL_FORMAT_NCHW, dims);
  ASSERT_EQ(cast(plain.handle, first.handle), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(cast(first.handle, second.handle), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(cast(second.handle, third.handle), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(cast(third.handle, back.handle), ACLNN_SUCCESS) << recent_error();
  EXPECT_TRUE(back.download() == plain.host);
  ASSERT_EQ(cast(plain.handle, weights.handle), ACLNN_SUCCESS) << recent_error();
  EXPECT_TRUE(second.download() == weights.download());
}

// Between plain formats sizes are permuted with their letters.
TEST_F(FormatTest, BetweenOrders) {
  const Tensor nchw(ACL_INT32, {2, 3, 4, 5}, contiguous({2, 3, 4, 5}), 0, ACL_FORMAT_NCHW, {120}, random_bytes(480));
  const Tensor nhwc(ACL_INT32, {2, 4, 5, 3}, contiguous({2, 4, 5, 3}), 0, ACL_FORMAT_NHWC, {120}, Bytes(480));
  ASSERT_EQ(cast(nchw.handle, nhwc.handle), ACLNN_SUCCESS) << recent_error();
  const Bytes now = nhwc.download();
  for_each_index({2, 3, 4, 5}, [&](const Dims& at) {
    const int64_t from = ((at[0] * 3 + at[1]) * 4 + at[2]) * 5 + at[3];
    const int64_t to = ((at[0] * 4 + at[2]) * 5 + at[3]) * 3 + at[1];
    EXPECT_EQ(std::memcmp(now.data() + to * 4, nchw.host.data() + from * 4, 4), 0);
  });
}

// A repeatable executor plans again for other memory with the same layout.
TEST_F(FormatTest, RepeatableExecutorCastsToOtherMemory) {
  const Tensor src(ACL_FLOAT, {20, 20}, {20, 1}, 0, ACL_FORMAT_ND, {400}, random_bytes(1600));
  const Tensor first(ACL_FLOAT, {20, 20}, {20, 1}, 0, ACL_FORMAT_FRACTAL_NZ, {2, 2, 16, 16}, random_bytes(4096));
  const Tensor second(ACL_FLOAT, {20, 20}, {20, 1}, 0, ACL_FORMAT_FRACTAL_NZ, {2, 2, 16, 16}, random_bytes(4096));
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnNpuFormatCastGetWorkspaceSize(src.handle, first.handle, &bytes, &executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclnnNpuFormatCast(nullptr, bytes, executor, nullptr), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclSetTensorAddr(executor, 0, first.handle, second.device), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclnnNpuFormatCast(nullptr, bytes, executor, nullptr), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(first.download() == second.download());
  EXPECT_FALSE(first.download() == first.host);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
}

// The sizes of a blocked tensor may be in its own format's order or in the plain one's.
TEST_F(FormatTest, SizesOfBlocksInEitherOrder) {
  const Tensor nhwc(ACL_INT32, {2, 4, 5, 3}, contiguous({2, 4, 5, 3}), 0, ACL_FORMAT_NHWC, {120}, random_bytes(480));
  const Dims storage_shape = {2, 1, 4, 5, 16};
  const Tensor own(ACL_INT32, {2, 3, 4, 5}, contiguous({2, 3, 4, 5}), 0, ACL_FORMAT_NC1HWC0, storage_shape,
                   Bytes(2560));
  const Tensor its(ACL_INT32, {2, 4, 5, 3}, contiguous({2, 4, 5, 3}), 0, ACL_FORMAT_NC1HWC0, storage_shape,
                   Bytes(2560));
  ASSERT_EQ(cast(nhwc.handle, own.handle), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(cast(nhwc.handle, its.handle), ACLNN_SUCCESS) << recent_error();
  EXPECT_TRUE(own.download() == its.download());
}

}  // namespace
}  // namespace format_test
