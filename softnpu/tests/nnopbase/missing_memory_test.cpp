// Phase one plans tensors without an address; phase two needs the addresses.

#include <array>
#include <string>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_nonzero.h"

namespace {

using Four = std::array<float, 4>;

class MissingMemoryTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    for (void*& block : blocks_) ASSERT_EQ(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }

  static aclTensor* square(void* data) {
    const std::array<int64_t, 2> sizes{2, 2};
    return aclCreateTensor(sizes.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, sizes.data(), 2, data);
  }

  std::array<void*, 3> blocks_{};
};

TEST_F(MissingMemoryTest, ARepeatableExecutorGetsItsAddresses) {
  upload(blocks_[0], Four{1, 2, 3, 4});
  upload(blocks_[1], Four{10, 20, 30, 40});
  aclTensor* self = square(nullptr);
  aclTensor* other = square(nullptr);
  aclTensor* out = square(nullptr);
  float two = 2;
  aclScalar* alpha = aclCreateScalar(&two, ACL_FLOAT);
  uint64_t bytes = 9;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAddGetWorkspaceSize(self, other, alpha, out, &bytes, &executor), ACLNN_SUCCESS) << recent_error();
  EXPECT_EQ(aclnnAdd(nullptr, bytes, executor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_NE(recent_error().find("tensors without an address"), std::string::npos);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclnnAdd(nullptr, bytes, executor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  ASSERT_EQ(aclSetTensorAddr(executor, 0, self, blocks_[0]), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetTensorAddr(executor, 1, other, blocks_[1]), ACLNN_SUCCESS);
  EXPECT_EQ(aclnnAdd(nullptr, bytes, executor, nullptr), ACLNN_ERR_PARAM_NULLPTR);  // out has none yet
  ASSERT_EQ(aclSetTensorAddr(executor, 2, out, blocks_[2]), ACLNN_SUCCESS);
  ASSERT_EQ(aclnnAdd(nullptr, bytes, executor, nullptr), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(download<Four>(blocks_[2]), (Four{21, 42, 63, 84}));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  for (const aclTensor* tensor : {self, other, out}) EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(alpha), ACLNN_SUCCESS);
}

TEST_F(MissingMemoryTest, ThePlanOnlyGivesTheSizeOfTheWorkspace) {
  const std::array<int64_t, 2> sizes{96, 96};
  const std::array<int64_t, 2> strides{1, 96};
  const auto make = [&](const int64_t* at, void* data) {
    return aclCreateTensor(sizes.data(), 2, ACL_FLOAT16, at, 0, ACL_FORMAT_ND, sizes.data(), 2, data);
  };
  std::array<void*, 3> memory{};
  for (void*& block : memory) ASSERT_EQ(aclrtMalloc(&block, 96 * 96 * 2, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::array<uint64_t, 2> needed{};
  for (const bool has_memory : {false, true}) {
    const aclTensor* a = make(strides.data(), has_memory ? memory[0] : nullptr);
    const aclTensor* b = make(nullptr, has_memory ? memory[1] : nullptr);
    aclTensor* out = make(nullptr, has_memory ? memory[2] : nullptr);
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMatmulGetWorkspaceSize(a, b, out, 0, &needed[has_memory ? 1 : 0], &executor), ACLNN_SUCCESS)
        << recent_error();
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
    for (const aclTensor* tensor : {a, b, static_cast<const aclTensor*>(out)}) (void)aclDestroyTensor(tensor);
  }
  EXPECT_EQ(needed[0], needed[1]);
}

TEST_F(MissingMemoryTest, TheSizesOfAnOutputReachTheCallersTensor) {
  upload(blocks_[0], Four{0, 2, 0, 4});
  aclTensor* self = square(blocks_[0]);
  const std::array<int64_t, 2> most{4, 2};
  aclTensor* out = aclCreateTensor(most.data(), 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, most.data(), 2, nullptr);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnNonzeroGetWorkspaceSize(self, out, &bytes, &executor), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetTensorAddr(executor, 1, out, blocks_[1]), ACLNN_SUCCESS);
  void* workspace = nullptr;
  if (bytes > 0) {
    ASSERT_EQ(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  ASSERT_EQ(aclnnNonzero(workspace, bytes, executor, nullptr), ACLNN_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  int64_t* sizes = nullptr;
  uint64_t rank = 0;
  ASSERT_EQ(aclGetViewShape(out, &sizes, &rank), ACLNN_SUCCESS);
  ASSERT_EQ(rank, 2u);
  EXPECT_EQ(sizes[0], 2);
  delete[] sizes;
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
}

TEST_F(MissingMemoryTest, AnAddressThatNoMemoryHasIsStillRefused) {
  auto* nowhere = reinterpret_cast<void*>((uintptr_t{1} << 62) + 512);
  aclTensor* self = square(nowhere);
  aclTensor* out = square(blocks_[0]);
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnAddGetWorkspaceSize(self, self, alpha, out, &bytes, &executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(executor, nullptr);
  EXPECT_EQ(aclDestroyTensor(self), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(out), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(alpha), ACLNN_SUCCESS);
}

TEST_F(MissingMemoryTest, TensorsCanBeDescribedAnewAndRead) {
  aclTensor* tensor = square(blocks_[0]);
  const std::array<int64_t, 3> sizes{2, 3, 4};
  const std::array<int64_t, 3> strides{1, 2, 6};
  const int64_t storage = 30;
  ASSERT_EQ(aclInitTensor(tensor, sizes.data(), 3, ACL_INT64, strides.data(), 5, ACL_FORMAT_NCHW, &storage, 1, nullptr),
            ACLNN_SUCCESS);
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  int64_t offset = 0;
  int64_t* numbers = nullptr;
  uint64_t count = 0;
  ASSERT_EQ(aclGetDataType(tensor, &dtype), ACLNN_SUCCESS);
  EXPECT_EQ(dtype, ACL_INT64);
  ASSERT_EQ(aclGetFormat(tensor, &format), ACLNN_SUCCESS);
  EXPECT_EQ(format, ACL_FORMAT_NCHW);
  ASSERT_EQ(aclGetViewOffset(tensor, &offset), ACLNN_SUCCESS);
  EXPECT_EQ(offset, 5);
  ASSERT_EQ(aclGetViewStrides(tensor, &numbers, &count), ACLNN_SUCCESS);
  EXPECT_EQ(std::vector<int64_t>(numbers, numbers + count), (std::vector<int64_t>{1, 2, 6}));
  delete[] numbers;
  ASSERT_EQ(aclGetStorageShape(tensor, &numbers, &count), ACLNN_SUCCESS);
  EXPECT_EQ(std::vector<int64_t>(numbers, numbers + count), (std::vector<int64_t>{30}));
  delete[] numbers;
  EXPECT_EQ(aclGetFormat(tensor, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetViewStrides(nullptr, &numbers, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclUpdateTensorAddr(tensor, blocks_[1]), ACLNN_SUCCESS);
  const aclTensor* all = tensor;
  aclTensorList* list = aclCreateTensorList(&all, 1);
  EXPECT_EQ(aclGetTensorListSize(list, &count), ACLNN_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclUpdateTensorAddr(tensor, blocks_[1]), ACLNN_ERR_PARAM_INVALID);
  const std::array<int64_t, 2> values{3, 4};
  aclIntArray* array = aclCreateIntArray(values.data(), 2);
  EXPECT_EQ(aclGetIntArraySize(array, &count), ACLNN_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(aclGetIntArraySize(array, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclDestroyIntArray(array), ACLNN_SUCCESS);
}

}  // namespace
