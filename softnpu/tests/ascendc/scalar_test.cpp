// The scalar unit's functions, printing, tiling, and memory that a kernel initialises.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

enum class Mode { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC };

TEST(KernelScalar, CastsRound) {
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_RINT>(2.5F)), 2);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_ROUND>(2.5F)), 3);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_FLOOR>(-2.5F)), -3);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_CEIL>(-2.5F)), -2);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_TRUNC>(-2.5F)), -2);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_RINT>(1e20F)), INT32_MAX);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_RINT>(-1e20F)), INT32_MIN);
  EXPECT_EQ((ScalarCast<float, int32_t, Mode::CAST_RINT>(__builtin_nanf(""))), 0);
  EXPECT_EQ(static_cast<float>(ScalarCast<float, half, Mode::CAST_NONE>(0.5F)), 0.5F);
}

TEST(KernelScalar, CountsAndFindsBits) {
  EXPECT_EQ(ScalarGetCountOfValue<1>(0xf0), 4);
  EXPECT_EQ(ScalarGetCountOfValue<0>(0xf0), 60);
  EXPECT_EQ(ScalarGetSFFValue<1>(0xf0), 4);
  EXPECT_EQ(ScalarGetSFFValue<0>(0xf), 4);
  EXPECT_EQ(ScalarGetSFFValue<1>(0), -1);
  EXPECT_EQ(ScalarGetSFFValue<0>(~uint64_t{0}), -1);
}

TEST(KernelScalar, RoundsUpToMultiples) {
  EXPECT_EQ(Ceil(65, 32), 3);
  EXPECT_EQ(DivCeil(64U, 32), 2U);
  EXPECT_EQ(AlignUp(65, 32), 96);
  EXPECT_EQ(AlignUp(64, 32), 64);
  EXPECT_EQ(AlignUp(7, 0), 0);
  EXPECT_EQ(min(3, -4L), -4L);
  EXPECT_EQ(max(3U, 2U), 3U);
  EXPECT_TRUE(likely(true));
  EXPECT_FALSE(unlikely(false));
}

TEST(KernelScalar, TypesAndConstants) {
  EXPECT_TRUE((IsSameType<float, float>::value));
  EXPECT_FALSE((IsSameType<float, half>::value));
  EXPECT_EQ(ONE_BLK_SIZE, 32);
}

class KernelRuns : public KernelTest {
 public:
  using KernelTest::recent_error;
  using KernelTest::run;
};

struct Memory {
  int32_t* memory;
};

template <typename T>
void check_initial_memory() {
  struct Elements {
    T* memory;
  };
  const PinnedMemory pinned(32 * sizeof(T));
  auto* memory = static_cast<T*>(pinned.get());
  std::fill_n(memory, 32, T(1.0F));
  const T values[] = {T(7.0F), T(9.0F)};
  ASSERT_EQ((KernelRuns::run("init", 1, Elements{memory},
                             [](const Elements& a) {
                               GlobalTensor<T> global;
                               global.SetGlobalBuffer(a.memory, 32);
                               InitGlobalMemory(global, 8, T(7.0F));
                               InitOutput<T>(global[16], 4, T(9.0F));
                             })),
            ACL_SUCCESS)
      << KernelRuns::recent_error();
  for (uint32_t i = 0; i < 32; ++i) {
    const T want = i < 8 ? values[0] : i >= 16 && i < 20 ? values[1] : T(1.0F);
    ASSERT_EQ(static_cast<double>(memory[i]), static_cast<double>(want)) << cells::type_name<T>() << " " << i;
  }
  cells::record("InitGlobalMemory", "count", cells::type_name<T>(), false);
  cells::record("InitOutput", "count", cells::type_name<T>(), false);
}

void compare_all() {
  check_initial_memory<half>();
  check_initial_memory<bfloat16_t>();
  check_initial_memory<float>();
  check_initial_memory<int8_t>();
  check_initial_memory<uint8_t>();
  check_initial_memory<int16_t>();
  check_initial_memory<uint16_t>();
  check_initial_memory<int32_t>();
  check_initial_memory<uint32_t>();
  check_initial_memory<int64_t>();
  check_initial_memory<uint64_t>();
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelRuns, InitGlobalMemorySetsElements) { kFamily.run(); }

TEST_F(KernelRuns, PrintsAndDumps) {
  ::testing::internal::CaptureStdout();
  int32_t* memory = on_device(std::vector<int32_t>{3, -4, 5});
  const aclError error = run("print", 1, Memory{kernel_address(memory)}, [](const Memory& a) {
    GlobalTensor<int32_t> global;
    global.SetGlobalBuffer(a.memory, 3);
    AscendC::printf("value %d of block %ld\n", 7, GetBlockIdx());
    PRINTF("plain\n");
    DumpTensor(global, 12, 3);
    DumpTensor(global[1], 13, 1);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 64);
    auto halves = buffer.Get<half>();
    halves.SetValue(0, 1.5F);
    halves.SetValue(1, -2.0F);
    DumpTensor(halves, 14, 2);
  });
  std::fflush(stdout);
  const std::string text = ::testing::internal::GetCapturedStdout();
  ASSERT_EQ(error, ACL_SUCCESS) << recent_error();
  for (const char* part : {"value 7 of block 0\n", "plain\n", "DumpTensor 12, block 0",
                           "scalar_test.cpp:", ": [3, -4, 5]\n", "DumpTensor 13", ": [-4]\n", ": [1.5, -2]\n"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(KernelRuns, TheTilingKeyChoosesAVariant) {
  int32_t* memory = on_device(std::vector<int32_t>{0});
  const auto kernel = [](const Memory& a) {
    softnpu::kernel::current_block()->tiling_key = 3;
    if (TILING_KEY_IS(1)) {
      *a.memory = 1;
    } else if (TILING_KEY_IS(3)) {
      *a.memory = 30;
    }
  };
  ASSERT_EQ(run("key", 1, Memory{kernel_address(memory)}, kernel), ACL_SUCCESS);
  EXPECT_EQ(on_host(memory, 1)[0], 30);
}

TEST_F(KernelRuns, ATilingArgumentThatIsNullIsAnError) {
  struct Tiling {
    int32_t size;
  };
  ASSERT_EQ(run("tiling", 1, Memory{nullptr},
                [](const Memory& a) {
                  GET_TILING_DATA_WITH_STRUCT(Tiling, data, a.memory);
                  (void)data;
                }),
            ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(recent_error().find("tiling argument is null"), std::string::npos);
}

}  // namespace
