// TransData and Identity: format casts invoked by type name; the descriptions state the formats.

#include "acl/acl_op_compiler.h"
#include "format/cast_fixture.h"

namespace format_test {
namespace {

// Owns a description and its buffer.
class Operand {
 public:
  // As the plug-in describes a tensor: its sizes and original format, then those in memory.
  Operand(const Tensor& tensor, aclFormat origin, aclFormat format, const Dims& storage_shape)
      : desc(aclCreateTensorDesc(ACL_FLOAT16, static_cast<int>(tensor.dims.size()), tensor.dims.data(), origin)),
        buffer(aclCreateDataBuffer(tensor.device, tensor.host.size())) {
    EXPECT_EQ(aclSetTensorFormat(desc, format), ACL_SUCCESS);
    EXPECT_EQ(aclSetTensorShape(desc, static_cast<int>(storage_shape.size()), storage_shape.data()), ACL_SUCCESS);
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() {
    aclDestroyTensorDesc(desc);
    (void)aclDestroyDataBuffer(buffer);
  }

  aclTensorDesc* desc;
  aclDataBuffer* buffer;
};

class TypedCastTest : public FormatTest {
 protected:
  void SetUp() override {
    FormatTest::SetUp();
    attributes_ = aclopCreateAttr();
  }
  void TearDown() override {
    aclopDestroyAttr(attributes_);
    FormatTest::TearDown();
  }

  void set(const char* src, const char* dst, int64_t groups) {
    ASSERT_EQ(aclopSetAttrString(attributes_, "src_format", src), ACL_SUCCESS);
    ASSERT_EQ(aclopSetAttrString(attributes_, "dst_format", dst), ACL_SUCCESS);
    ASSERT_EQ(aclopSetAttrInt(attributes_, "groups", groups), ACL_SUCCESS);
  }

  aclError run(const char* type, const Operand& in, const Operand& out) {
    const aclTensorDesc* in_desc = in.desc;
    const aclTensorDesc* out_desc = out.desc;
    aclDataBuffer* out_buffer = out.buffer;
    const aclError status = aclopCompileAndExecute(type, 1, &in_desc, &in.buffer, 1, &out_desc, &out_buffer,
                                                   attributes_, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr);
    return status != ACL_SUCCESS ? status : aclrtSynchronizeStream(nullptr);
  }

  aclopAttr* attributes_ = nullptr;
};

Tensor make(const Dims& dims, aclFormat format, const Dims& storage_shape) {
  return {ACL_FLOAT16,
          dims,
          contiguous(dims),
          0,
          format,
          storage_shape,
          random_bytes(static_cast<size_t>(product(storage_shape)) * 2)};
}

// The same bytes as from aclnnNpuFormatCast, which other tests compare with the formulas.
TEST_F(TypedCastTest, BothTypesMatchFormatCast) {
  struct Row {
    aclFormat format;
    const char* name;
    Dims dims;
  };
  for (const Row& row :
       {Row{ACL_FORMAT_NC1HWC0, "NC1HWC0", {2, 20, 3, 5}}, Row{ACL_FORMAT_FRACTAL_Z, "FRACTAL_Z", {20, 18, 3, 3}},
        Row{ACL_FORMAT_FRACTAL_NZ, "FRACTAL_NZ", {2, 3, 20, 18}},
        Row{ACL_FORMAT_FRACTAL_NZ_C0_8, "FRACTAL_NZ_C0_8", {2, 3, 20, 18}}}) {
    SCOPED_TRACE(row.name);
    const Format& format = format_of(row.format);
    const Dims storage_shape =
        sizes_in_memory(format, ACL_FORMAT_NCHW, row.dims, format.block == 0 ? 16 : format.block);
    const Tensor plain = make(row.dims, ACL_FORMAT_NCHW, row.dims);
    const Tensor expected = make(row.dims, row.format, storage_shape);
    ASSERT_EQ(cast(plain.handle, expected.handle), ACLNN_SUCCESS) << recent_error();
    for (const char* type : {"TransData", "Identity"}) {
      const Tensor blocks = make(row.dims, row.format, storage_shape);
      const Tensor back = make(row.dims, ACL_FORMAT_NCHW, row.dims);
      const Operand in(plain, ACL_FORMAT_NCHW, ACL_FORMAT_NCHW, row.dims);
      const Operand middle(blocks, ACL_FORMAT_NCHW, row.format, storage_shape);
      const Operand out(back, ACL_FORMAT_NCHW, ACL_FORMAT_NCHW, row.dims);
      set("NCHW", row.name, 1);
      ASSERT_EQ(run(type, in, middle), ACL_SUCCESS) << recent_error();
      EXPECT_TRUE(blocks.download() == expected.download()) << type;
      set(row.name, "ND", 1);
      ASSERT_EQ(run(type, middle, out), ACL_SUCCESS) << recent_error();
      EXPECT_TRUE(back.download() == plain.host) << type;
    }
  }
}

// Blocks described by their sizes in memory; the tensor's own sizes are the origin's.
TEST_F(TypedCastTest, TheOriginHasTheTensorsSizes) {
  const Dims dims = {20, 18};
  const Dims storage_shape = {2, 2, 16, 16};
  const Tensor plain = make(dims, ACL_FORMAT_ND, dims);
  const Tensor expected = make(dims, ACL_FORMAT_FRACTAL_NZ, storage_shape);
  ASSERT_EQ(cast(plain.handle, expected.handle), ACLNN_SUCCESS) << recent_error();
  const Tensor blocks = make(storage_shape, ACL_FORMAT_ND, storage_shape);
  const Operand in(plain, ACL_FORMAT_ND, ACL_FORMAT_ND, dims);
  const Operand out(blocks, ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_FRACTAL_NZ, storage_shape);
  ASSERT_EQ(aclSetTensorOriginShape(out.desc, 2, dims.data()), ACL_SUCCESS);
  ASSERT_EQ(aclSetTensorOriginFormat(out.desc, ACL_FORMAT_ND), ACL_SUCCESS);
  ASSERT_EQ(run("TransData", in, out), ACL_SUCCESS) << recent_error();
  EXPECT_TRUE(blocks.download() == expected.download());
}

// If the description has no order, the attribute's order is used.
TEST_F(TypedCastTest, AttributesNameTheOrderOfND) {
  const Tensor nhwc = make({2, 3, 5, 20}, ACL_FORMAT_NHWC, {2, 3, 5, 20});
  const Dims storage_shape = {2, 2, 3, 5, 16};
  const Tensor expected = make({2, 20, 3, 5}, ACL_FORMAT_NC1HWC0, storage_shape);
  const Tensor blocks = make({2, 20, 3, 5}, ACL_FORMAT_NC1HWC0, storage_shape);
  ASSERT_EQ(cast(nhwc.handle, expected.handle), ACLNN_SUCCESS) << recent_error();
  set("NHWC", "NC1HWC0", 1);
  const Operand in(nhwc, ACL_FORMAT_ND, ACL_FORMAT_ND, nhwc.dims);
  const Operand out(blocks, ACL_FORMAT_NCHW, ACL_FORMAT_NC1HWC0, storage_shape);
  ASSERT_EQ(run("TransData", in, out), ACL_SUCCESS) << recent_error();
  EXPECT_TRUE(blocks.download() == expected.download());
}

TEST_F(TypedCastTest, MismatchedFormatsAreRefused) {
  const Dims dims = {20, 18};
  const Dims storage_shape = {2, 2, 16, 16};
  const Tensor plain = make(dims, ACL_FORMAT_ND, dims);
  const Tensor blocks = make(dims, ACL_FORMAT_FRACTAL_NZ, storage_shape);
  const Operand in(plain, ACL_FORMAT_ND, ACL_FORMAT_ND, dims);
  const Operand out(blocks, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, storage_shape);
  const auto expect_refused = [&](const Operand& to, const char* message) {
    EXPECT_NE(run("TransData", in, to), ACL_SUCCESS);
    EXPECT_NE(recent_error().find(message), std::string::npos) << recent_error();
  };
  set("ND", "NC1HWC0", 1);
  expect_refused(out, "dst_format is NC1HWC0, and the description says the format 29");
  set("FRACTAL_NZ", "FRACTAL_NZ", 1);
  expect_refused(out, "src_format is FRACTAL_NZ");
  set("ND", "FRACTAL_NZ", 2);
  expect_refused(out, "without groups");
  set("ND", "FRACTAL_NZ", 1);
  expect_refused(Operand(plain, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, storage_shape), "bytes, where 2048 are needed");
  expect_refused(Operand(blocks, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ, {4, 1, 16, 16}), "[2, 2, 16, 16] are needed");
}

}  // namespace
}  // namespace format_test
