// Cast between float and bfloat16 against the type's own conversions, bit by bit.

#include <bit>

#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelBfloat16 : public VectorTest {};

constexpr uint32_t kCount = 4096 + 5;  // whole vectors and a rest

// Every bfloat16, part by part, and around each the floats that round to it or to the next one.
void casts_equal_the_type(std::string* wrong) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * 4 * kCount + 64);
  const LocalTensor<float> widened = buffer.Get<float>();
  const LocalTensor<bfloat16_t> narrow = widened[kCount + 11].ReinterpretCast<bfloat16_t>();
  for (uint32_t first = 0; first < 65536; first += kCount) {
    for (uint32_t i = 0; i < kCount; ++i) narrow(i) = std::bit_cast<bfloat16_t>(static_cast<uint16_t>(first + i));
    Cast(widened, narrow, RoundMode::CAST_NONE, kCount);
    for (uint32_t i = 0; i < kCount; ++i) {
      if (std::bit_cast<uint32_t>(widened(i)) != (first + i) << 16) *wrong = "to float: " + std::to_string(first + i);
    }
    for (const uint32_t behind : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      for (uint32_t i = 0; i < kCount; ++i) widened(i) = std::bit_cast<float>((first + i) << 16 | behind);
      Cast(narrow, widened, RoundMode::CAST_RINT, kCount);
      for (uint32_t i = 0; i < kCount; ++i) {
        if (std::bit_cast<uint16_t>(narrow(i)) != std::bit_cast<uint16_t>(bfloat16_t(widened(i))))
          *wrong = "to bfloat16: " + std::to_string(std::bit_cast<uint32_t>(widened(i)));
      }
    }
  }
}

TEST_F(KernelBfloat16, CastsEqualTheType) {
  std::string wrong;
  in_kernel([&] { casts_equal_the_type(&wrong); });
  EXPECT_EQ(wrong, "");
}

}  // namespace
