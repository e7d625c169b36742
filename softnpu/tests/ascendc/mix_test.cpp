// Kernels for both kinds of cores.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

namespace {

using namespace AscendC;

class KernelMix : public KernelTest {};

struct Arguments {
  int32_t* memory;
};

GlobalTensor<int32_t> global(const Arguments& a, uint64_t length) {
  GlobalTensor<int32_t> tensor;
  tensor.SetGlobalBuffer(a.memory, length);
  return tensor;
}

TEST_F(KernelMix, RunsOnceForEachCore) {
  constexpr int32_t kBlocks = 5;
  int32_t* memory = on_device(std::vector<int32_t>(4 * kBlocks, 0));
  const auto kernel = [](const Arguments& a) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const auto blocks = static_cast<int32_t>(GetBlockNum());
    const auto index = static_cast<int32_t>(GetBlockIdx());
    GlobalTensor<int32_t> to = global(a, static_cast<uint64_t>(4 * blocks));
    if ASCEND_IS_AIV {
      to.SetValue(index, 100 * static_cast<int32_t>(GetSubBlockIdx()) + 10 * static_cast<int32_t>(GetSubBlockNum()));
    }
    if ASCEND_IS_AIC {
      to.SetValue(2 * blocks + index, index + static_cast<int32_t>(GetTaskRation()));
    }
  };
  ASSERT_EQ(run("cores", kBlocks, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS) << recent_error();
  std::vector<int32_t> want(4 * kBlocks, 0);
  for (int32_t i = 0; i < 2 * kBlocks; ++i) want[static_cast<size_t>(i)] = 100 * (i % 2) + 20;
  for (int32_t i = 0; i < kBlocks; ++i) want[static_cast<size_t>(2 * kBlocks + i)] = i + 2;
  EXPECT_EQ(on_host(memory, 4 * kBlocks), want);
}

TEST_F(KernelMix, OneVectorCoreEach) {
  int32_t* memory = on_device(std::vector<int32_t>(8, 0));
  const auto kernel = [](const Arguments& a) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GlobalTensor<int32_t> to = global(a, 8);
    const int64_t at = g_coreType == AIV ? GetBlockIdx() : 4 + GetBlockIdx();
    to.SetValue(static_cast<uint64_t>(at), static_cast<int32_t>(GetSubBlockNum()));
    SyncAll<false>();
  };
  ASSERT_EQ(run("cores", 3, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory, 8), (std::vector<int32_t>{1, 1, 1, 0, 1, 1, 1, 0}));
}

// Each vector core gives a number to its cube core, which gives the sum to both.
TEST_F(KernelMix, FlagsOrderACubeCoreAndItsVectorCores) {
  constexpr int32_t kBlocks = 20;
  constexpr int32_t kRounds = 3;
  int32_t* memory = on_device(std::vector<int32_t>(3 * kBlocks, 0));
  const auto kernel = [](const Arguments& a) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const auto blocks = static_cast<int32_t>(GetBlockNum());
    const auto index = static_cast<int32_t>(GetBlockIdx());
    GlobalTensor<int32_t> to = global(a, static_cast<uint64_t>(3 * blocks));
    for (int32_t round = 0; round < kRounds; ++round) {
      if ASCEND_IS_AIV {
        const int32_t sum = round == 0 ? 0 : to.GetValue(2 * blocks + index / 2);
        to.SetValue(index, sum + index);
        CrossCoreSetFlag<0x2, PIPE_MTE3>(1);
        CrossCoreWaitFlag(2);
      }
      if ASCEND_IS_AIC {
        CrossCoreWaitFlag(1);
        to.SetValue(2 * blocks + index, to.GetValue(2 * index) + to.GetValue(2 * index + 1));
        CrossCoreSetFlag<0x2, PIPE_MTE3>(2);
      }
    }
  };
  ASSERT_EQ(run("flags", kBlocks, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS) << recent_error();
  const std::vector<int32_t> found = on_host(memory, 3 * kBlocks);
  for (int32_t i = 0; i < kBlocks; ++i) {
    int32_t sum = 0;
    for (int32_t round = 0; round < kRounds; ++round) sum = 2 * sum + 4 * i + 1;
    EXPECT_EQ(found[static_cast<size_t>(2 * kBlocks + i)], sum) << i;
  }
}

// With mode 4 each vector core has flags of its own.
TEST_F(KernelMix, FlagsOfOneVectorCore) {
  int32_t* memory = on_device(std::vector<int32_t>(8, 0));
  const auto kernel = [](const Arguments& a) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GlobalTensor<int32_t> to = global(a, 8);
    if ASCEND_IS_AIV {
      to.SetValue(static_cast<uint64_t>(GetBlockIdx()), 5);
      CrossCoreSetFlag<0x4, PIPE_MTE3>(3);
      CrossCoreWaitFlag<0x4>(3);
      to.SetValue(static_cast<uint64_t>(4 + GetBlockIdx()), to.GetValue(static_cast<uint64_t>(2 + GetBlockIdx())));
    }
    if ASCEND_IS_AIC {
      CrossCoreWaitFlag<0x4>(3);
      to.SetValue(2, to.GetValue(0) + 1);
      CrossCoreSetFlag<0x4, PIPE_FIX>(3);
      CrossCoreWaitFlag<0x4>(3 + 16);
      to.SetValue(3, to.GetValue(1) + 2);
      CrossCoreSetFlag<0x4, PIPE_FIX>(3 + 16);
    }
  };
  ASSERT_EQ(run("flags", 1, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory, 8), (std::vector<int32_t>{5, 5, 6, 7, 6, 7, 0, 0}));
}

TEST_F(KernelMix, AWaitThatNothingEndsIsAnError) {
  int32_t* memory = on_device(std::vector<int32_t>(8, 0));
  const auto kernel = [](const Arguments&) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    if ASCEND_IS_AIC {
      CrossCoreWaitFlag(1);
    }
  };
  EXPECT_NE(run("flags", 2, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("CrossCoreWaitFlag waits for ever"), std::string::npos) << recent_error();
}

TEST_F(KernelMix, FlagsNeedBothKindsOfCores) {
  const auto kernel = [](const Arguments&) { CrossCoreSetFlag<0x2, PIPE_MTE3>(1); };
  EXPECT_NE(run("flags", 1, Arguments{nullptr}, kernel), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("CrossCoreSetFlag: the kernel has no cube cores"), std::string::npos) << recent_error();
  const auto other = [](const Arguments&) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    CrossCoreSetFlag<0x2, PIPE_MTE3>(16);
  };
  EXPECT_NE(run("flags", 1, Arguments{nullptr}, other), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("CrossCoreSetFlag: flag 16: there are 0 to 15"), std::string::npos) << recent_error();
}

// A kernel with objects of the cube runs on two vector cores of each cube core, whose own block ends at once.
TEST_F(KernelMix, ObjectsOfTheCubeAreAskedByVectorCores) {
  int32_t* memory = on_device(std::vector<int32_t>(16, 0));
  const auto kernel = [](const Arguments& a) {
    using Matrix = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    TPipe pipe;
    Matmul<Matrix, Matrix, Matrix> product;
    TCubeTiling tiling;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &tiling);
    const uint64_t at = static_cast<uint64_t>(GetBlockIdx());
    global(a, 16).SetValue(g_coreType == AIV ? at : 8 + at, 1 + static_cast<int32_t>(GetSubBlockIdx()));
  };
  ASSERT_EQ(run("objects", 3, Arguments{kernel_address(memory)}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory, 16), (std::vector<int32_t>{1, 2, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
