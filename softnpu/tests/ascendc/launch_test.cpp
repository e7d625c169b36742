// Launches: blocks, arguments, failures.

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "acl_fixture.h"
#include "kernel_operator.h"
#include "softnpu/kernel_entry.h"
#include "softnpu_kernel/launch.h"

namespace {

class KernelLaunch : public AclTest {};

struct Arguments {
  int* out;
  int first;
};

TEST_F(KernelLaunch, RunsEveryBlockWithItsArguments) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  softnpuKernel kernel{};
  kernel.name = "indices";
  kernel.run = [](const void* arguments) {
    const auto& a = *static_cast<const Arguments*>(arguments);
    AscendC::GlobalTensor<int> out;
    out.SetGlobalBuffer(static_cast<int*>(softnpu::kernel::device_pointer(a.out)),
                        softnpu::kernel::current_block()->count);
    out.SetValue(softnpu::kernel::current_block()->index,
                 a.first + static_cast<int>(softnpu::kernel::current_block()->index));
  };
  const Arguments arguments{static_cast<int*>(memory), 5};
  ASSERT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, 40, nullptr, &arguments, sizeof(arguments)),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  std::vector<int> got(40);
  std::vector<int> want(40);
  std::iota(want.begin(), want.end(), 5);
  ASSERT_EQ(aclrtMemcpy(got.data(), 160, memory, 160, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(got, want);
  aclrtFree(memory);
}

// Adds `first` to each of the numbers, a block a number.
softnpuKernel adding_kernel() {
  softnpuKernel kernel{};
  kernel.name = "adding";
  kernel.run = [](const void* arguments) {
    const auto& a = *static_cast<const Arguments*>(arguments);
    AscendC::GlobalTensor<int> out;
    out.SetGlobalBuffer(static_cast<int*>(softnpu::kernel::device_pointer(a.out)),
                        softnpu::kernel::current_block()->count);
    const uint32_t index = softnpu::kernel::current_block()->index;
    out.SetValue(index, out.GetValue(index) + a.first);
  };
  return kernel;
}

TEST_F(KernelLaunch, CapturedLaunchesRunAtEachReplay) {
  constexpr uint32_t kBlocks = 40;
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  aclmdlRI model = nullptr;
  const softnpuKernel kernel = adding_kernel();
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(memory, 160, 0, 160, stream), ACL_SUCCESS);
  for (int add = 1; add <= 3; ++add) {
    const Arguments arguments{static_cast<int*>(memory), add};  // copied: gone before the replay
    ASSERT_EQ(
        softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, kBlocks, stream, &arguments, sizeof arguments),
        ACL_SUCCESS);
  }
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), ACL_SUCCESS);
  const Arguments more{static_cast<int*>(memory), 10};
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream), ACL_SUCCESS);
    ASSERT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, kBlocks, stream, &more, sizeof more),
              ACL_SUCCESS);
  }
  ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  std::vector<int> got(kBlocks);
  ASSERT_EQ(aclrtMemcpy(got.data(), 160, memory, 160, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(got, std::vector<int>(kBlocks, 1 + 2 + 3 + 10));
  aclrtFree(memory);
  aclrtDestroyStream(stream);
}

TEST_F(KernelLaunch, AFailureInAReplayNamesItsTask) {
  aclrtStream stream = nullptr;
  aclmdlRI model = nullptr;
  softnpuKernel kernel{};
  kernel.name = "broken";
  kernel.run = [](const void*) { softnpu::kernel::fail("a reason", std::source_location::current()); };
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, 1, stream, "", 1), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), ACL_SUCCESS);
  aclError error = aclmdlRIExecuteAsync(model, stream);
  if (error == ACL_SUCCESS) error = aclrtSynchronizeStream(stream);
  EXPECT_EQ(error, ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string text = recent_error();
  EXPECT_NE(text.find("broken (task 0 of the captured graph): kernel broken, block 0"), std::string::npos) << text;
  ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  aclrtDestroyStream(stream);
}

TEST_F(KernelLaunch, AFailureNamesKernelBlockAndLine) {
  softnpuKernel kernel{};
  kernel.name = "broken";
  kernel.run = [](const void*) { softnpu::kernel::fail("a reason", std::source_location::current()); };
  aclError error = softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, 1, nullptr, "",
                                        1);  // waits under ASCEND_LAUNCH_BLOCKING=1
  if (error == ACL_SUCCESS) error = aclrtSynchronizeStream(nullptr);
  EXPECT_EQ(error, ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string text = recent_error();
  EXPECT_NE(text.find("kernel broken, block 0"), std::string::npos) << text;
  EXPECT_NE(text.find("launch_test.cpp"), std::string::npos) << text;
}

TEST_F(KernelLaunch, WhatCannotBeLaunchedIsRefused) {
  softnpuKernel kernel{};
  kernel.name = "none";
  kernel.run = [](const void*) {};
  EXPECT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, 0, nullptr, "", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("0 blocks"), std::string::npos);
  kernel.run = nullptr;
  EXPECT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, 1, nullptr, "", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, nullptr, 1, nullptr, "", 1), ACL_ERROR_INVALID_PARAM);
}

// What kernels call that were compiled before launches had a version.
extern "C" int softnpuKernelLaunch(const softnpuKernel* kernel, uint32_t blocks, void* stream, const void* arguments,
                                   size_t bytes);

TEST_F(KernelLaunch, KernelsOfAnotherVersionAreRefused) {
  softnpuKernel kernel{};
  kernel.name = "older";
  kernel.run = [](const void*) { std::abort(); };
  const std::string own = std::to_string(SOFTNPU_KERNEL_ENTRY_VERSION);
  const auto sentence = [&](const std::string& version) {
    return "kernel older was compiled with version " + version + " of softnpu's kernel library, this is version " +
           own + ": compile it again";
  };
  for (const uint32_t version : {SOFTNPU_KERNEL_ENTRY_VERSION - 1, SOFTNPU_KERNEL_ENTRY_VERSION + 1}) {
    EXPECT_EQ(softnpuKernelEnqueue(version, &kernel, 1, nullptr, "", 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(recent_error().find(sentence(std::to_string(version))), std::string::npos) << recent_error();
  }
  EXPECT_EQ(softnpuKernelLaunch(&kernel, 1, nullptr, "", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find(sentence("1 or 2")), std::string::npos) << recent_error();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

// Compiled kernels fill these structures for the library, which has to refuse those that know another layout.
TEST(KernelEntry, ALayoutThatChangesRaisesTheVersion) {
  using namespace softnpu::kernel;
  const std::vector<size_t> layout = {
      sizeof(softnpuKernel),
      sizeof(softnpuKernelEntry),
      sizeof(softnpuKernelTiling),
      sizeof(Block),
      sizeof(Instruction),
      sizeof(CopyInstruction),
      sizeof(MaskedCopyInstruction),
      sizeof(MathInstruction),
      sizeof(VectorInstruction),
      sizeof(CompareInstruction),
      sizeof(SelectInstruction),
      sizeof(ReduceInstruction),
      sizeof(GatherInstruction),
      sizeof(GatherMaskInstruction),
      sizeof(SpreadInstruction),
      sizeof(ProgressionInstruction),
      static_cast<size_t>(VectorOp::kCount),
  };
  ASSERT_EQ(SOFTNPU_KERNEL_ENTRY_VERSION, 4U);
  EXPECT_EQ(layout,
            (std::vector<size_t>{40, 64, 24, 344, 40, 152, 120, 112, 184, 192, 224, 152, 128, 128, 120, 112, 25}))
      << "raise SOFTNPU_KERNEL_ENTRY_VERSION, _VERSION of torch_npu/ascendc/binary.py, and these numbers";
}

}  // namespace
