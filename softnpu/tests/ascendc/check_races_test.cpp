// Checked mode and the blocks of a launch. The tests of DISABLED_Races run in a process of their own, which the last
// tests start.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ascendc/check_process.h"
#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

struct Arguments {
  int32_t* memory;
};

GlobalTensor<int32_t> words(const Arguments& a) {
  GlobalTensor<int32_t> tensor;
  tensor.SetGlobalBuffer(a.memory);
  return tensor;
}
int32_t self() { return static_cast<int32_t>(GetBlockIdx()); }
void give_signal(int32_t block, int32_t event) { IBSet(GlobalTensor<int32_t>(), LocalTensor<int32_t>(), block, event); }
void take_signal(int32_t block, int32_t event) {
  IBWait(GlobalTensor<int32_t>(), LocalTensor<int32_t>(), block, event);
}

class DISABLED_Races : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    memory_ = on_device(std::vector<int32_t>(1 << 14, 0));
  }
  template <typename Body>
  aclError check(uint32_t blocks, Body body) {
    ::testing::internal::CaptureStderr();
    const aclError error = run("races", blocks, Arguments{kernel_address(memory_)}, body);
    reports_ = ::testing::internal::GetCapturedStderr();
    return error;
  }
  int reports() const {
    int count = 0;
    for (size_t at = 0; (at = reports_.find("========= blockcheck: ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  bool has(const std::string& part) const { return reports_.find(part) != std::string::npos; }

  int32_t* memory_ = nullptr;
  std::string reports_;
};

TEST_F(DISABLED_Races, AReportNamesBothLinesAndTheBytes) {
  constexpr int kWriter = __LINE__ + 2;
  const auto body = [](const Arguments& a) {
    if (self() == 2) words(a).SetValue(100, 1);
    if (self() == 5) (void)words(a).GetValue(100);
  };
  EXPECT_EQ(check(8, body), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(reports(), 1) << reports_;
  EXPECT_TRUE(has("blockcheck: GetValue of block 5 reads what SetValue of block 2 writes")) << reports_;
  EXPECT_TRUE(has("block 5, GetValue on pipe S, check_races_test.cpp:" + std::to_string(kWriter + 1))) << reports_;
  EXPECT_TRUE(has("other access: SetValue on pipe S, block 2, check_races_test.cpp:" + std::to_string(kWriter)))
      << reports_;
  EXPECT_TRUE(has("both: 4 bytes at GM ")) << reports_;
  EXPECT_TRUE(has("in byte 400 of an allocation of 65536 bytes")) << reports_;
}

TEST_F(DISABLED_Races, ReadsOfAllBlocksAreNone) {
  EXPECT_EQ(check(64, [](const Arguments& a) { (void)words(a).GetValue(0); }), ACL_SUCCESS) << reports_;
}

// One of many readers is the writer's own block.
TEST_F(DISABLED_Races, AWriteAmongManyReadsIsFound) {
  const auto body = [](const Arguments& a) {
    (void)words(a).GetValue(0);
    if (self() == 77) words(a).SetValue(0, 1);
  };
  EXPECT_NE(check(100, body), ACL_SUCCESS);
  EXPECT_EQ(reports(), 1) << reports_;
}

TEST_F(DISABLED_Races, WordsOfTheirOwnAreNone) {
  EXPECT_EQ(check(1000, [](const Arguments& a) { words(a).SetValue(self(), 1); }), ACL_SUCCESS) << reports_;
}

TEST_F(DISABLED_Races, TenThousandBlocksThatWriteOneWordAreOneReport) {
  EXPECT_NE(check(10000, [](const Arguments& a) { words(a).SetValue(0, 1); }), ACL_SUCCESS);
  EXPECT_EQ(reports(), 1) << reports_;
  EXPECT_TRUE(has("SetValue of block 1 writes what SetValue of block 0 writes")) << reports_;
}

TEST_F(DISABLED_Races, SyncAllOrdersAllBlocksEachTime) {
  const auto body = [](const Arguments& a) {
    for (int32_t round = 0; round < 6; ++round) {
      if (self() == round) words(a).SetValue(0, round);
      SyncAll();
    }
  };
  EXPECT_EQ(check(6, body), ACL_SUCCESS) << reports_;
}

// Only the second round's SyncAll is missing.
TEST_F(DISABLED_Races, ARaceBehindASyncAllIsFound) {
  const auto body = [](const Arguments& a) {
    if (self() == 0) words(a).SetValue(0, 1);
    SyncAll();
    if (self() == 1) words(a).SetValue(0, 2);
    if (self() == 2) words(a).SetValue(0, 3);
    SyncAll();
  };
  EXPECT_NE(check(4, body), ACL_SUCCESS);
  EXPECT_EQ(reports(), 1) << reports_;
  EXPECT_TRUE(has("of block 2 writes what SetValue of block 1 writes")) << reports_;
}

TEST_F(DISABLED_Races, SignalsOrderByWayOfOtherBlocks) {
  const auto chain = [](const Arguments& a) {
    if (self() > 0) take_signal(self() - 1, 0);
    words(a).SetValue(0, words(a).GetValue(0) + 1);
    give_signal(self(), 0);
  };
  EXPECT_EQ(check(12, chain), ACL_SUCCESS) << reports_;
  EXPECT_EQ(on_host(memory_, 1)[0], 12);
}

// Block 2 knows of block 1, and that one has waited for block 0 only afterwards.
TEST_F(DISABLED_Races, ASignalOrdersWhatIsBeforeItOnly) {
  const auto body = [](const Arguments& a) {
    if (self() == 0) {
      words(a).SetValue(0, 1);
      give_signal(0, 0);
    } else if (self() == 1) {
      give_signal(1, 0);
      take_signal(0, 0);
    } else {
      take_signal(1, 0);
      (void)words(a).GetValue(0);
    }
  };
  EXPECT_NE(check(3, body), ACL_SUCCESS);
  EXPECT_EQ(reports(), 1) << reports_;
}

TEST_F(DISABLED_Races, AtomicCopiesOfAllBlocksAreNone) {
  const auto body = [](const Arguments& a) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 256);
    LocalTensor<int32_t> local = buffer.Get<int32_t>();
    Duplicate(local, 1, 64);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    SetAtomicAdd<int32_t>();
    DataCopy(words(a), local, 64);
    SetAtomicNone();
  };
  EXPECT_EQ(check(16, body), ACL_SUCCESS) << reports_;
}

TEST(CheckRaces, InCheckedMode) {
  const std::string tests = own_path() + " --gtest_filter='DISABLED_Races.*' --gtest_also_run_disabled_tests";
  const ProcessResult result = run_process("1", "", tests);
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_NE(result.output.find("[  PASSED  ] 10 tests."), std::string::npos) << result.output;
}

TEST(CheckRaces, OnlyWhereBlockcheckIsAskedFor) {
  const std::string report = beside("kernel_checks") + " --report same_output";
  EXPECT_EQ(run_process("memcheck,racecheck", "", report).output, "");
  EXPECT_NE(run_process("blockcheck", "", report).output.find("========= blockcheck: "), std::string::npos);
}

}  // namespace
