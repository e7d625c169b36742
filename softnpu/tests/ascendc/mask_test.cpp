// The core's mask as instructions leave it, and counts of repeats beyond the unit's field.

#include <functional>
#include <string>

#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelMask : public VectorTest {};

struct Memory {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<float> from, to, work;
  LocalTensor<uint32_t> offsets;
  Memory() {
    pipe.InitBuffer(buffer, 4 * 512 * sizeof(float));
    from = buffer.Get<float>();
    to = from[512];
    work = from[1024];
    offsets = from[1536].ReinterpretCast<uint32_t>();
    for (uint32_t i = 0; i < 512; ++i) {
      from(i) = 1;
      to(i) = 0;
      offsets(i) = 4 * i;
    }
  }
  // The number of elements that an instruction with the core's mask writes.
  int masked() {
    Duplicate(to, 0.0F, 512);
    Adds<float, false>(to, from, 1.0F, MASK_PLACEHOLDER, 1, UnaryRepeatParams());
    int count = 0;
    for (uint32_t i = 0; i < 512; ++i) count += to.GetValue(i) == 2 ? 1 : 0;
    return count;
  }
};

struct Row {
  const char* name;
  std::function<void(Memory&)> call;
  int masked;  // behind it
};

const uint64_t kBits[2] = {0x15, 0};

const std::vector<Row> kRows = {
    {"Add", [](Memory& m) { Add(m.to, m.from, m.from, 5, 1, BinaryRepeatParams()); }, 5},
    {"Add with bits", [](Memory& m) { Add(m.to, m.from, m.from, kBits, 1, BinaryRepeatParams()); }, 3},
    {"ReduceSum", [](Memory& m) { ReduceSum(m.to, m.from, m.work, 5, 1, 8); }, 5},
    {"ReduceSum with bits", [](Memory& m) { ReduceSum(m.to, m.from, m.work, kBits, 1, 8); }, 3},
    {"ReduceMax", [](Memory& m) { ReduceMax(m.to, m.from, m.work, 5, 1, 8); }, 5},
    {"ReduceMin", [](Memory& m) { ReduceMin(m.to, m.from, m.work, 5, 1, 8); }, 5},
    {"WholeReduceSum", [](Memory& m) { WholeReduceSum<float>(m.to, m.from, 5, 1, 1, 1, 8); }, 5},
    {"WholeReduceSum, the core's", [](Memory& m) { WholeReduceSum<float, false>(m.to, m.from, 5, 1, 1, 1, 8); }, 64},
    {"WholeReduceMax", [](Memory& m) { WholeReduceMax<float>(m.to, m.from, 5, 1, 1, 1, 8); }, 5},
    {"WholeReduceMin", [](Memory& m) { WholeReduceMin<float>(m.to, m.from, kBits, 1, 1, 1, 8); }, 3},
    {"RepeatReduceSum", [](Memory& m) { RepeatReduceSum(m.to, m.from, 1, 5, 0, 1, 1, 8); }, 5},
    {"BlockReduceSum", [](Memory& m) { BlockReduceSum(m.to, m.from, 1, 5, 1, 1, 8); }, 5},
    {"BlockReduceMax", [](Memory& m) { BlockReduceMax(m.to, m.from, 1, 5, 1, 1, 8); }, 5},
    {"BlockReduceMin", [](Memory& m) { BlockReduceMin(m.to, m.from, 1, kBits, 1, 1, 8); }, 3},
    {"PairReduceSum", [](Memory& m) { PairReduceSum(m.to, m.from, 1, 5, 1, 1, 8); }, 5},
    {"Gather", [](Memory& m) { Gather(m.to, m.from, m.offsets, 0, 5, 1, 8); }, 5},
    {"Gather with bits", [](Memory& m) { Gather(m.to, m.from, m.offsets, 0, kBits, 1, 8); }, 3},
    {"CreateVecIndex", [](Memory& m) { CreateVecIndex(m.to, 0.0F, 5, 1, 1, 8); }, 5},
    {"Copy", [](Memory& m) { Copy(m.to, m.from, 5, 1, CopyRepeatParams(1, 1, 8, 8)); }, 5},
    {"Copy with bits", [](Memory& m) { Copy(m.to, m.from, kBits, 1, CopyRepeatParams(1, 1, 8, 8)); }, 3},
    {"a count", [](Memory& m) { ReduceSum(m.to, m.from, m.work, 5); }, 64},
    {"a count", [](Memory& m) { Gather(m.to, m.from, m.offsets, 0, 5); }, 64},
    {"a count", [](Memory& m) { Add(m.to, m.from, m.from, 5); }, 64},
};

TEST_F(KernelMask, MaskedFormsSetTheCoresMask) {
  for (const Row& row : kRows) {
    int masked = -1;
    in_kernel([&] {
      Memory memory;
      ResetMask();
      row.call(memory);
      masked = memory.masked();
    });
    EXPECT_EQ(masked, row.masked) << row.name;
  }
}

TEST_F(KernelMask, InCounterModeTheMaskIsOfAllRepeats) {
  float sum = 0;
  int masked = 0;
  in_kernel([&] {
    Memory memory;
    SetVectorMask<float, MaskMode::COUNTER>(1);
    ReduceSum(memory.to, memory.from, memory.work, 100, 1, 8);
    sum = memory.to.GetValue(0);
    masked = memory.masked();
    SetMaskNorm();
    ResetMask();
  });
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(masked, 100);
}

TEST_F(KernelMask, AMaskOfMoreThanARepeatIsAnError) {
  const std::function<void()> body = [] {
    Memory memory;
    WholeReduceSum<float>(memory.to, memory.from, 65, 1, 1, 1, 8);
  };
  EXPECT_NE(run("vector", 1, Arguments{&body}, Call()), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("the mask is more than the elements of a repeat"), std::string::npos) << recent_error();
}

// The mask register has 128 bits.
TEST_F(KernelMask, AMaskOfElementsOfOneByteIsAnError) {
  const std::function<void()> duplicates = [] {
    Memory memory;
    Duplicate(memory.to.ReinterpretCast<int8_t>(), int8_t{1}, uint64_t{8}, 1, 1, 8);
  };
  const std::function<void()> casts = [] {
    Memory memory;
    Cast(memory.to.ReinterpretCast<int8_t>(), memory.from.ReinterpretCast<uint8_t>(), RoundMode::CAST_NONE, kBits, 1,
         UnaryRepeatParams());
  };
  for (const auto* body : {&duplicates, &casts}) {
    EXPECT_NE(run("vector", 1, Arguments{body}, Call()), ACL_SUCCESS);
    EXPECT_NE(recent_error().find("a mask has 128 elements"), std::string::npos) << recent_error();
  }
}

// The unit's field for repeats has 8 bits.
TEST_F(KernelMask, RepeatsCountModulo256) {
  float first = -1, behind = -1;
  in_kernel([&] {
    Memory memory;
    Add(memory.to, memory.from, memory.from, 8, 256, BinaryRepeatParams(1, 1, 1, 1, 1, 1));
    first = memory.to.GetValue(0);
    Gather(memory.to, memory.from, memory.offsets, 0, 8, 257, 1);
    Brcb(memory.to[256], memory.from, 257, BrcbRepeatParams(1, 8));
    behind = memory.to.GetValue(8) + memory.to.GetValue(256 + 64);
  });
  EXPECT_EQ(first, 0);
  EXPECT_EQ(behind, 0);
}

}  // namespace
