// Blocks that wait for each other, on fewer threads.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

class KernelBlocks : public KernelTest {};

struct Arguments {
  int32_t* memory;
  int32_t rounds;
};

// Each round every block adds up what all blocks wrote in the round before.
TEST_F(KernelBlocks, SyncAllLetsEachBlockSeeWhatAllWrote) {
  constexpr int32_t kBlocks = 40;
  constexpr int32_t kRounds = 5;
  int32_t* memory = on_device(std::vector<int32_t>(2 * kBlocks, 1));
  const auto kernel = [](const Arguments& a) {
    GlobalTensor<int32_t> global;
    const auto blocks = static_cast<int32_t>(GetBlockNum());
    global.SetGlobalBuffer(a.memory, 2 * blocks);
    for (int32_t round = 0; round < a.rounds; ++round) {
      const int32_t from = round % 2 * blocks;
      int32_t sum = 0;
      for (int32_t i = 0; i < blocks; ++i) sum += global.GetValue(from + i) % 1009;
      global.SetValue(blocks - from + GetBlockIdx(), sum + static_cast<int32_t>(GetBlockIdx()));
      SyncAll();
    }
  };
  ASSERT_EQ(run("rounds", kBlocks, Arguments{kernel_address(memory), kRounds}, kernel), ACL_SUCCESS) << recent_error();
  std::vector<int32_t> want(kBlocks, 1);
  for (int32_t round = 0; round < kRounds; ++round) {
    int32_t sum = 0;
    for (const int32_t value : want) sum += value % 1009;
    std::iota(want.begin(), want.end(), sum);
  }
  EXPECT_EQ(on_host(memory + kRounds % 2 * kBlocks, kBlocks), want);
}

TEST_F(KernelBlocks, TheFormWithCountersSynchronisesToo) {
  int32_t* memory = on_device(std::vector<int32_t>(16, 0));
  const auto kernel = [](const Arguments& a) {
    GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(a.memory, 16);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 256);
    global.SetValue(GetBlockIdx(), 1);
    SyncAll(global[8], buffer.Get<int32_t>());
    int32_t sum = 0;
    for (int32_t i = 0; i < 4; ++i) sum += global.GetValue(i);
    global.SetValue(4 + GetBlockIdx(), sum);
  };
  ASSERT_EQ(run("soft", 4, Arguments{kernel_address(memory), 0}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory + 4, 4), std::vector<int32_t>(4, 4));
}

// Block i waits for block i + 1: the first to begin is the last to end.
TEST_F(KernelBlocks, ASignalPassesFromBlockToBlock) {
  constexpr int32_t kBlocks = 12;
  int32_t* memory = on_device(std::vector<int32_t>(kBlocks + 1, 7));
  const auto kernel = [](const Arguments& a) {
    GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(a.memory);
    LocalTensor<int32_t> local;
    const auto self = static_cast<int32_t>(GetBlockIdx());
    if (self + 1 < GetBlockNum()) IBWait(global, local, self + 1, 3);
    global.SetValue(self, global.GetValue(self + 1) + 1);
    IBSet(global, local, self, 3);
  };
  ASSERT_EQ(run("chain", kBlocks, Arguments{kernel_address(memory), 0}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory, 1)[0], 7 + kBlocks);
}

TEST_F(KernelBlocks, SignalsThatNobodyWaitsForYetAreCounted) {
  int32_t* memory = on_device(std::vector<int32_t>{0});
  const auto kernel = [](const Arguments& a) {
    GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(a.memory);
    LocalTensor<int32_t> local;
    if (GetBlockIdx() == 1) {
      for (int i = 0; i < 3; ++i) IBSet(global, local, 1, 0);
    }
    SyncAll();
    if (GetBlockIdx() == 0) {
      for (int i = 0; i < 3; ++i) IBWait(global, local, 1, 0);
      global.SetValue(0, 1);
    }
  };
  ASSERT_EQ(run("counted", 2, Arguments{kernel_address(memory), 0}, kernel), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(on_host(memory, 1)[0], 1);
  // One more than was given.
  const auto greedy = [](const Arguments&) {
    GlobalTensor<int32_t> global;
    LocalTensor<int32_t> local;
    if (GetBlockIdx() == 1) IBSet(global, local, 1, 0);
    SyncAll();
    if (GetBlockIdx() == 0) {
      for (int i = 0; i < 2; ++i) IBWait(global, local, 1, 0);
    }
  };
  EXPECT_EQ(run("greedy", 2, Arguments{nullptr, 0}, greedy), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(recent_error().find("IBWait waits for ever"), std::string::npos);
}

TEST_F(KernelBlocks, ASyncAllThatABlockNeverReachesIsAnError) {
  const auto kernel = [](const Arguments&) {
    if (GetBlockIdx() != 2) SyncAll();
  };
  EXPECT_EQ(run("lonely", 4, Arguments{nullptr, 0}, kernel), ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string text = recent_error();
  EXPECT_NE(text.find("SyncAll waits for ever: 3 blocks wait, the other 1 have ended"), std::string::npos) << text;
  EXPECT_NE(text.find("blocks_test.cpp"), std::string::npos) << text;
}

TEST_F(KernelBlocks, AFailureEndsTheBlocksThatWait) {
  const auto kernel = [](const Arguments&) {
    if (GetBlockIdx() == 3) ASSERT(GetBlockNum() == 1 && "too many blocks");
    SyncAll();
  };
  EXPECT_EQ(run("failing", 8, Arguments{nullptr, 0}, kernel), ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string text = recent_error();
  EXPECT_NE(text.find("kernel failing, block 3"), std::string::npos) << text;
  EXPECT_NE(text.find("too many blocks"), std::string::npos) << text;
}

// Sums of many blocks into the same elements.
TEST_F(KernelBlocks, AtomicAdditionsOfAllBlocksArriveOnce) {
  constexpr int32_t kBlocks = 16;
  float* sums = on_device(std::vector<float>(64, 0));
  struct Sums {
    float* sums;
  };
  const auto kernel = [](const Sums& a) {
    GlobalTensor<float> global;
    global.SetGlobalBuffer(a.sums, 64);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<float> local = buffer.Get<float>();
    for (int i = 0; i < 64; ++i) local.SetValue(i, static_cast<float>(i));
    SetAtomicAdd<float>();
    for (int i = 0; i < 50; ++i) DataCopy(global, local, 64);
    SetAtomicNone();
  };
  ASSERT_EQ(run("sums", kBlocks, Sums{kernel_address(sums)}, kernel), ACL_SUCCESS) << recent_error();
  std::vector<float> want(64);
  for (int i = 0; i < 64; ++i) want[i] = static_cast<float>(i * kBlocks * 50);
  EXPECT_EQ(on_host(sums, 64), want);
}

TEST_F(KernelBlocks, TwoStreamsRunTheirLaunchesInOrder) {
  constexpr int32_t kLaunches = 200;
  aclrtStream streams[2];
  int32_t* memories[2];
  struct Step {
    int32_t* memory;
    int32_t step;
  };
  const auto kernel = [](const Step& a) {
    GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(a.memory);
    const auto at = GetBlockIdx();
    global.SetValue(at, global.GetValue(at) == a.step ? a.step + 1 : -1);
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtCreateStream(&streams[i]), ACL_SUCCESS);
    memories[i] = on_device(std::vector<int32_t>(4, 0));
  }
  for (int32_t step = 0; step < kLaunches; ++step) {
    for (int i = 0; i < 2; ++i) {
      const Step arguments{kernel_address(memories[i]), step};
      ASSERT_EQ((launch<Step, decltype(kernel)>("step", 4, arguments, streams[i])), ACL_SUCCESS);
    }
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtSynchronizeStream(streams[i]), ACL_SUCCESS) << recent_error();
    EXPECT_EQ(on_host(memories[i], 4), std::vector<int32_t>(4, kLaunches));
    ASSERT_EQ(aclrtDestroyStream(streams[i]), ACL_SUCCESS);
  }
}

}  // namespace
