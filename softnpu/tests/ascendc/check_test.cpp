// Checked mode: reports, and what is none. The tests of DISABLED_InCheckedMode run in a process of their own, which the
// last test starts.

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "ascendc/check_process.h"
#include "ascendc/kernel_run.h"
#include "ascendc/labelled/labelled.h"

namespace {

using namespace AscendC;
using labelled::kTile;
using labelled::order;

class DISABLED_InCheckedMode : public KernelTest {
 protected:
  struct Arguments {
    float* x;
    float* z;
  };
  void SetUp() override {
    KernelTest::SetUp();
    ASSERT_TRUE(softnpu::kernel::is_checked);
    x_ = on_device(std::vector<float>(1024, 1));
    z_ = on_device(std::vector<float>(1024, 0));
  }
  // Runs `body`, and keeps what it prints to stderr in reports_.
  template <typename Body>
  aclError check(uint32_t blocks, Body body) {
    ::testing::internal::CaptureStderr();
    const aclError error = run("checked", blocks, Arguments{kernel_address(x_), kernel_address(z_)}, body);
    reports_ = ::testing::internal::GetCapturedStderr();
    return error;
  }
  size_t count(const std::string& part) const {
    size_t found = 0;
    for (size_t at = reports_.find(part); at != std::string::npos; at = reports_.find(part, at + 1)) ++found;
    return found;
  }

  float* x_ = nullptr;
  float* z_ = nullptr;
  std::string reports_;
};

// A buffer of 1024 floats in the unified buffer.
struct Buffer {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<float> all;
  Buffer() {
    pipe.InitBuffer(buffer, 1024 * sizeof(float));
    all = buffer.Get<float>();
  }
};

GlobalTensor<float> global(float* address) {
  GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(address, 1024);
  return tensor;
}

TEST_F(DISABLED_InCheckedMode, ManyBlocksGiveOneReport) {
  EXPECT_EQ(check(40,
                  [](const Arguments& a) {
                    Buffer buffer;
                    for (int i = 0; i < 3; ++i) DataCopy(buffer.all[i * kTile], global(a.x), kTile);
                    Add(buffer.all, buffer.all, buffer.all, kTile);
                  }),
            ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(count("racecheck: "), 1u) << reports_;
  EXPECT_EQ(count("kernel checked, block 0, Add on pipe V, check_test.cpp:"), 1u) << reports_;
  EXPECT_EQ(count("other access: DataCopy on pipe MTE2, check_test.cpp:"), 1u) << reports_;
  EXPECT_NE(recent_error().find("racecheck: "), std::string::npos) << recent_error();
}

TEST_F(DISABLED_InCheckedMode, ReportsNameTheLaunchsLine) {
  softnpuKernelSetLaunchSite([] { return "train.py:12"; });
  EXPECT_NE(check(1, [](const Arguments&) { softnpu::kernel::fail("a reason", std::source_location::current()); }),
            ACL_SUCCESS);
  softnpuKernelSetLaunchSite(nullptr);
  EXPECT_EQ(count("launched at train.py:12"), 1u) << reports_;
}

TEST_F(DISABLED_InCheckedMode, AnInstructionThatDoesNotSayWhatItTouchesIsAnError) {
  EXPECT_NE(check(1,
                  [](const Arguments&) {
                    softnpu::kernel::Instruction unknown{};
                    unknown.name = "Riddle";
                    unknown.pipe = softnpu::kernel::Pipe::kV;
                    unknown.bytes = sizeof unknown;
                    unknown.execute = [](const softnpu::kernel::Instruction&) {};
                    unknown.where = std::source_location::current();
                    softnpu::kernel::issue(unknown);
                  }),
            ACL_SUCCESS);
  EXPECT_EQ(count("memcheck: Riddle does not say what it touches"), 1u) << reports_;
}

TEST_F(DISABLED_InCheckedMode, AWaitMayBeQueuedBeforeItsSet) {
  EXPECT_EQ(check(1,
                  [](const Arguments& a) {
                    Buffer buffer;
                    WaitFlag<HardEvent::MTE2_V>(0);  // on the vector unit's queue: the program goes on
                    Add(buffer.all, buffer.all, buffer.all, kTile);
                    DataCopy(buffer.all, global(a.x), kTile);
                    SetFlag<HardEvent::MTE2_V>(0);
                    order<HardEvent::V_MTE3>(0);
                    DataCopy(global(a.z), buffer.all, kTile);
                  }),
            ACL_SUCCESS)
      << reports_;
  EXPECT_EQ(on_host(z_, 1)[0], 2);
}

// Gathers elements of `x`, times 7, whose offsets the vector unit computes: `step` bytes apart.
template <int32_t step, typename Arguments>
void gather(const Arguments& a) {
  Buffer buffer;
  const LocalTensor<float> from = buffer.all, to = buffer.all[kTile];
  const LocalTensor<int32_t> offsets = buffer.all[2 * kTile].ReinterpretCast<int32_t>();
  DataCopy(from, global(a.x), kTile);
  order<HardEvent::MTE2_V>(0);
  Muls(from, from, 7.0F, kTile);
  CreateVecIndex(offsets, 0, kTile);
  Muls(offsets, offsets, step, kTile);
  Gather(to, from, offsets.ReinterpretCast<uint32_t>(), 0, kTile);
  order<HardEvent::V_MTE3>(0);
  DataCopy(global(a.z), to, kTile);
}

TEST_F(DISABLED_InCheckedMode, PlacesThatTheKernelHasComputedAreJudged) {
  EXPECT_EQ(check(1, [](const Arguments& a) { gather<sizeof(float)>(a); }), ACL_SUCCESS) << reports_;
  EXPECT_EQ(on_host(z_, kTile)[kTile - 1], 7);
  EXPECT_NE(check(1, [](const Arguments& a) { gather<1>(a); }), ACL_SUCCESS);
  EXPECT_EQ(count("memcheck: gather: an offset in bytes is no multiple of the element's size"), 1u) << reports_;
}

TEST_F(DISABLED_InCheckedMode, WhatTheScalarUnitHasReadMayBeOverwritten) {
  EXPECT_EQ(check(1,
                  [](const Arguments& a) {
                    Buffer buffer;
                    Duplicate(buffer.all, 3.0F, kTile);
                    order<HardEvent::V_S>(0);
                    const float value = buffer.all.GetValue(0);
                    Duplicate(buffer.all, value + 1, kTile);  // no S_V: the value was there before this was issued
                    order<HardEvent::V_MTE3>(0);
                    DataCopy(global(a.z), buffer.all, kTile);
                  }),
            ACL_SUCCESS)
      << reports_;
  EXPECT_EQ(on_host(z_, 1)[0], 4);
}

TEST_F(DISABLED_InCheckedMode, TheFirstUnwrittenByteIsNamed) {
  EXPECT_NE(check(1,
                  [](const Arguments&) {
                    Buffer buffer;
                    Duplicate(buffer.all, 3.0F, 67);
                    Duplicate(buffer.all[68], 3.0F, 100);
                    Add(buffer.all[256], buffer.all, buffer.all, 168);
                  }),
            ACL_SUCCESS);
  EXPECT_EQ(count("initcheck: "), 1u) << reports_;
  EXPECT_EQ(count("reads: 672 bytes at UB + 0x0, first at UB + 0x10c"), 1u) << reports_;
}

// Else a seed's result would depend on the thread that runs a block.
TEST_F(DISABLED_InCheckedMode, UnwrittenMemoryHasTheSameContentsInEveryLaunch) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(check(4,
                    [](const Arguments&) {
                      Buffer buffer;
                      Duplicate(buffer.all, 1.0F, 1024);
                    }),
              ACL_SUCCESS);
    check(1, [](const Arguments& a) {
      Buffer buffer;
      a.z[0] = buffer.all.GetValue(7);
    });
    float unwritten = 0;
    ASSERT_EQ(aclrtMemcpy(&unwritten, sizeof(float), z_, sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(std::bit_cast<uint32_t>(unwritten), 0x7e7e7e7eU);
  }
}

TEST_F(DISABLED_InCheckedMode, AStoppedBlockEndsTheWaitsOfOthers) {
  EXPECT_NE(check(4,
                  [](const Arguments&) {
                    if (GetBlockIdx() == 1) WaitFlag<HardEvent::V_S>(0);
                    SyncAll();
                  }),
            ACL_SUCCESS);
  EXPECT_EQ(count("synccheck: a wait that nothing can end"), 1u) << reports_;
  EXPECT_EQ(count("pipe S waits for V_S, event 0, check_test.cpp:"), 1u) << reports_;
}

TEST_F(DISABLED_InCheckedMode, MoreInstructionsThanAreKeptWaiting) {
  EXPECT_EQ(check(1,
                  [](const Arguments& a) {
                    Buffer buffer;
                    Duplicate(buffer.all, 0.0F, 16);
                    Duplicate(buffer.all[16], 1.0F, 8);
                    for (int i = 0; i < 70000; ++i) Add(buffer.all, buffer.all, buffer.all[16], 8);
                    order<HardEvent::V_MTE3>(0);
                    DataCopy(global(a.z), buffer.all, 8);
                  }),
            ACL_SUCCESS)
      << reports_;
  EXPECT_EQ(on_host(z_, 1)[0], 70000);
}

TEST_F(DISABLED_InCheckedMode, AnAllocationsEndIsNamed) {
  EXPECT_NE(check(1,
                  [](const Arguments& a) {
                    Buffer buffer;
                    GlobalTensor<float> unknown;
                    unknown.SetGlobalBuffer(a.x);
                    DataCopy(buffer.all, unknown[1024 - 8], 64);
                  }),
            ACL_SUCCESS);
  EXPECT_EQ(count("DataCopy reads 224 bytes behind the end of the allocation in global memory"), 1u) << reports_;
  EXPECT_EQ(count("byte 4064 of an allocation of 4096 bytes"), 1u) << reports_;
}

TEST_F(DISABLED_InCheckedMode, ATensorIsFreedAtAnotherQueue) {
  EXPECT_NE(check(1,
                  [](const Arguments&) {
                    TPipe pipe;
                    TQue<QuePosition::VECIN, 1> queue, other;
                    pipe.InitBuffer(queue, 1, 64);
                    pipe.InitBuffer(other, 1, 64);
                    other.FreeTensor(queue.AllocTensor<float>());
                  }),
            ACL_SUCCESS);
  EXPECT_EQ(count("memcheck: the tensor is freed at another queue than its own"), 1u) << reports_;
}

TEST(Check, InCheckedMode) {
  for (const char* schedule : {"eager", "late", "seed:7"}) {
    const ProcessResult result = run_process("1", schedule,
                                             own_path() +
                                                 " --gtest_filter='DISABLED_InCheckedMode.*' "
                                                 "--gtest_also_run_disabled_tests");
    EXPECT_EQ(result.code, 0) << schedule << "\n" << result.output;
    EXPECT_NE(result.output.find("[  PASSED  ] 12 tests."), std::string::npos) << result.output;
  }
}

}  // namespace
