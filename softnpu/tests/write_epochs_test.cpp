// Write epochs: what raises them, for which bytes, and when they are unknown.

#include <cstdint>
#include <cstring>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_foreach_add_scalar.h"
#include "aclnnop/aclnn_inplace_add.h"
#include "blocking_task.h"
#include "softnpu/kernel_writes.h"
#include "softnpu/softnpu.h"

namespace {

constexpr size_t kChunk = size_t{64} << 10;
constexpr size_t kBytes = 3 * kChunk + 512;

// Two adjacent blocks.
class WriteEpochsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&block_, 2 * kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    first_ = static_cast<char*>(block_);
    second_ = first_ + kBytes;
  }

  uint64_t first() const { return softnpuLastWriteEpoch(first_, kBytes); }
  uint64_t second() const { return softnpuLastWriteEpoch(second_, kBytes); }

  // Expects that `write()` raises the epoch of the first block and not that of the second.
  template <typename Write>
  void expect_first_alone(const Write& write) {
    const uint64_t before = softnpuWriteEpoch();
    write();
    EXPECT_GT(first(), before);
    EXPECT_LE(second(), before);
  }

  void* block_ = nullptr;
  char* first_ = nullptr;
  char* second_ = nullptr;
};

TEST_F(WriteEpochsTest, CopiesAndFillsRaiseTheEpoch) {
  std::vector<char> host(kBytes);
  expect_first_alone([&] { aclrtMemcpy(first_, kBytes, host.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE); });
  expect_first_alone([&] { aclrtMemcpy(first_ + kChunk, 1, second_, 1, ACL_MEMCPY_DEVICE_TO_DEVICE); });
  expect_first_alone([&] { aclrtMemcpyAsync(first_, kBytes, second_, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr); });
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  expect_first_alone(
      [&] { aclrtMemcpy2d(first_, 2 * kChunk, host.data(), kChunk, kChunk, 2, ACL_MEMCPY_HOST_TO_DEVICE); });
  expect_first_alone([&] { aclrtMemset(first_, kBytes, 0, kBytes); });
  expect_first_alone([&] { aclrtMemsetAsync(first_, kBytes, 0, 1, nullptr); });
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  const uint64_t before = softnpuWriteEpoch();
  aclrtMemcpy(host.data(), kBytes, first_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_LE(first(), before);
}

TEST_F(WriteEpochsTest, ValuesRaiseTheEpoch) {
  expect_first_alone([&] { EXPECT_EQ(aclrtValueWrite(first_, 1, 0, nullptr), ACL_SUCCESS); });
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

// A kernel may write anywhere in the allocations that its arguments point into, at any offset of the arguments.
TEST_F(WriteEpochsTest, KernelsRaiseTheEpochsOfWhatArgumentsPointTo) {
  void* other = nullptr;
  ASSERT_EQ(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (const size_t offset : {size_t{0}, size_t{8}, size_t{13}}) {
    char arguments[32] = {};
    const char* inside = second_ + 5;
    std::memcpy(arguments + offset, &inside, sizeof inside);
    const uint64_t before = softnpuWriteEpoch();
    softnpuBumpPointedTo(arguments, sizeof arguments);
    EXPECT_GT(first(), before);
    EXPECT_GT(second(), before);
    EXPECT_LE(softnpuLastWriteEpoch(other, kBytes), before);
  }
  const uint64_t before = softnpuWriteEpoch();
  const char arguments[32] = {};
  softnpuBumpPointedTo(arguments, sizeof arguments);
  softnpuBumpReachable(arguments, sizeof arguments);
  EXPECT_EQ(softnpuWriteEpoch(), before);
}

// Where the memory has addresses, a kernel may follow them: to other allocations, and from there on.
TEST_F(WriteEpochsTest, AddressesInMemoryRaiseAllEpochs) {
  void* other = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  std::vector<uint64_t> table(8);
  const auto raises = [&](const void* argument) {
    const uint64_t before = softnpuWriteEpoch();
    softnpuBumpReachable(&argument, sizeof argument);
    const bool is_all = first() > before && softnpuLastWriteEpoch(other, kBytes) > before;
    EXPECT_EQ(is_all, softnpuWriteEpoch() > before);
    return is_all;
  };
  ASSERT_EQ(aclrtMemset(first_, kBytes, 0, kBytes), ACL_SUCCESS);
  std::memset(pinned, 0, 64);
  EXPECT_FALSE(raises(first_));
  EXPECT_FALSE(raises(pinned));
  table[7] = reinterpret_cast<uint64_t>(other);
  ASSERT_EQ(aclrtMemcpy(first_ + 512, 64, table.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  std::memcpy(pinned, table.data(), 64);
  EXPECT_TRUE(raises(first_));
  EXPECT_TRUE(raises(pinned));
  ASSERT_EQ(aclrtFree(other), ACL_SUCCESS);
  EXPECT_FALSE(raises(first_));
  ASSERT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

// At their launch, not when they run.
TEST_F(WriteEpochsTest, OperatorsRaiseTheEpochsOfTheirOutputs) {
  const int64_t count = 16;
  aclTensor* out = aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1, first_);
  aclTensor* in = aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1, second_);
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream), ACL_SUCCESS);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  expect_first_alone([&] {
    ASSERT_EQ(aclnnAddGetWorkspaceSize(in, in, scalar, out, &bytes, &executor), ACL_SUCCESS);
    ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), ACL_SUCCESS);
  });
  expect_first_alone([&] {
    ASSERT_EQ(aclnnInplaceAddGetWorkspaceSize(out, in, scalar, &bytes, &executor), ACL_SUCCESS);
    ASSERT_EQ(aclnnInplaceAdd(nullptr, 0, executor, stream), ACL_SUCCESS);
  });
  const aclTensor* outs[] = {out};
  const aclTensor* ins[] = {in};
  aclTensorList* out_list = aclCreateTensorList(outs, 1);
  aclTensorList* in_list = aclCreateTensorList(ins, 1);
  aclTensor* number = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, second_ + 64);
  expect_first_alone([&] {
    ASSERT_EQ(aclnnForeachAddScalarGetWorkspaceSize(in_list, number, out_list, &bytes, &executor), ACL_SUCCESS);
    ASSERT_EQ(aclnnForeachAddScalar(nullptr, 0, executor, stream), ACL_SUCCESS);
  });
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  aclDestroyTensorList(out_list);
  aclDestroyTensorList(in_list);
  aclDestroyTensor(number);
  aclDestroyScalar(scalar);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(WriteEpochsTest, RepeatableExecutorRaisesTheEpochAtEachLaunch) {
  const int64_t count = 16;
  aclTensor* in = aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1, second_);
  aclTensor* out = aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1, first_);
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAddGetWorkspaceSize(in, in, scalar, out, &bytes, &executor), ACL_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    expect_first_alone([&] { ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACL_SUCCESS); });
  }
  // With a replaced address: the new one.
  ASSERT_EQ(aclSetTensorAddr(executor, 0, out, second_ + kChunk), ACL_SUCCESS);
  const uint64_t before = softnpuWriteEpoch();
  ASSERT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACL_SUCCESS);
  EXPECT_LE(first(), before);
  EXPECT_GT(second(), before);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  aclDestroyAclOpExecutor(executor);
  aclDestroyTensor(in);
  aclDestroyTensor(out);
  aclDestroyScalar(scalar);
}

TEST_F(WriteEpochsTest, ReportedHostWritesRaiseTheEpoch) {
  expect_first_alone([&] { softnpuBumpWriteEpoch(first_ + kBytes - 1, 1); });
  expect_first_alone([&] { softnpuMemoryFreed(first_, kBytes); });
  expect_first_alone([&] { softnpuBumpWriteEpoch(first_ + kChunk - 8, kChunk); });
  // A write of a larger range has the newest epoch of every part.
  softnpuBumpWriteEpoch(first_, kBytes);
  for (size_t at : {size_t{0}, kChunk - 1, kChunk, 2 * kChunk + 100, kBytes - 1}) {
    EXPECT_EQ(softnpuLastWriteEpoch(first_ + at, 1), softnpuWriteEpoch());
  }
  const uint64_t before = softnpuWriteEpoch();
  softnpuBumpWriteEpoch(first_ + kChunk + 1024, 1);
  EXPECT_GT(softnpuLastWriteEpoch(first_ + kChunk, kChunk), before);
  EXPECT_GT(softnpuLastWriteEpoch(first_ + kChunk + 1024, 1), before);
  EXPECT_EQ(softnpuLastWriteEpoch(first_ + kChunk + 2048, 1), before);
  EXPECT_EQ(softnpuLastWriteEpoch(first_ + kChunk, 512), before);
  int host = 0;
  softnpuBumpWriteEpoch(&host, sizeof host);
  softnpuBumpWriteEpoch(nullptr, 8);
}

TEST_F(WriteEpochsTest, SharedMemoryIsUnknownUntilItIsFreed) {
  char key[65] = {};
  ASSERT_EQ(aclrtIpcMemGetExportKey(first_, 64, key, sizeof key, 0), ACL_SUCCESS);
  EXPECT_EQ(first(), UINT64_MAX);
  ASSERT_EQ(aclrtMemset(first_, kBytes, 0, kBytes), ACL_SUCCESS);
  EXPECT_EQ(first(), UINT64_MAX);
  ASSERT_EQ(aclrtFree(block_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&block_, 2 * kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_NE(softnpuLastWriteEpoch(block_, kBytes), UINT64_MAX);
}

TEST_F(WriteEpochsTest, OtherMemoryHasAnUnknownEpoch) {
  int host = 0;
  EXPECT_EQ(softnpuLastWriteEpoch(&host, sizeof host), UINT64_MAX);
  EXPECT_EQ(softnpuLastWriteEpoch(nullptr, 8), UINT64_MAX);
}

// The epoch of mapped memory is known as long as one address and one process map it.
TEST_F(WriteEpochsTest, MappedMemoryIsKnownWhileItHasOneMapping) {
  constexpr size_t kUnit = size_t{2} << 20;
  aclrtPhysicalMemProp property{};
  property.memAttr = ACL_HBM_MEM_HUGE;
  property.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  void* range = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kUnit, &property, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtReserveMemAddress(&range, 2 * kUnit, 0, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(softnpuLastWriteEpoch(range, 64), UINT64_MAX);
  ASSERT_EQ(aclrtMapMem(range, kUnit, 0, handle, 0), ACL_SUCCESS);
  const uint64_t before = softnpuWriteEpoch();
  ASSERT_EQ(aclrtMemset(range, kUnit, 0, kUnit), ACL_SUCCESS);
  EXPECT_GT(softnpuLastWriteEpoch(range, kUnit), before);
  EXPECT_NE(softnpuLastWriteEpoch(range, kUnit), UINT64_MAX);
  EXPECT_EQ(softnpuLastWriteEpoch(range, kUnit + 1), UINT64_MAX);
  void* second = static_cast<char*>(range) + kUnit;
  ASSERT_EQ(aclrtMapMem(second, kUnit, 0, handle, 0), ACL_SUCCESS);
  EXPECT_EQ(softnpuLastWriteEpoch(range, 64), UINT64_MAX);
  ASSERT_EQ(aclrtUnmapMem(second), ACL_SUCCESS);
  EXPECT_NE(softnpuLastWriteEpoch(range, 64), UINT64_MAX);
  uint64_t number = 0;
  ASSERT_EQ(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &number), ACL_SUCCESS);
  EXPECT_EQ(softnpuLastWriteEpoch(range, 64), UINT64_MAX);
  ASSERT_EQ(aclrtUnmapMem(range), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
}

}  // namespace
