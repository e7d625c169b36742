// What instructions say that they touch is what they touch: bytes that they do not read make no difference, bytes that
// they do not write stay, bytes that they write depend on nothing but what they read.

#include <functional>
#include <memory>

#include "ascendc/vector_memory.h"
#include "softnpu_kernel/copy.h"
#include "softnpu_kernel/math.h"
#include "softnpu_kernel/vector.h"
#include "softnpu_kernel/vector_gather.h"
#include "softnpu_kernel/vector_reduce.h"
#include "softnpu_kernel/vector_select.h"

namespace {

using namespace softnpu::kernel;

constexpr size_t kBytes = 64 << 10;
constexpr size_t kTo = 32 << 10;
constexpr size_t kOffsets = 16 << 10;

// What runs of `one` say and do; empty where both agree.
struct Area {
  alignas(64) uint8_t bytes[kBytes];
};

std::string disagreement(const Area& filled, Area* area, const Instruction& one, std::string* misuses) {
  *area = filled;
  TouchedBytes touched(area->bytes, kBytes);
  one.touch(one, &touched);
  *misuses = touched.misuses;
  if (touched.outside) return "touches bytes outside";
  one.execute(one);
  const Area first = *area;
  *area = filled;
  for (size_t i = 0; i < kBytes; ++i) {
    if (!touched.reads[i]) area->bytes[i] ^= 0x5a;
  }
  one.execute(one);
  for (size_t i = 0; i < kBytes; ++i) {
    const std::string at = " byte " + std::to_string(i);
    if (!touched.writes[i] && first.bytes[i] != filled.bytes[i]) return "writes" + at;
    if (touched.writes[i] && first.bytes[i] != area->bytes[i]) return "does not write, or reads more for," + at;
  }
  return "";
}

template <typename I>
I created(void (*execute)(const Instruction&), void (*touch)(const Instruction&, Touches*)) {
  I one{};
  one.bytes = sizeof(I);
  one.execute = execute;
  one.touch = touch;
  return one;
}

class VectorTouch : public ::testing::Test {
 protected:
  VectorTouch() : area_(std::make_unique<Area>()), filled_(std::make_unique<Area>()) {
    for (size_t i = 0; i < kBytes / 4; ++i) {
      const float value = test_value<float>(static_cast<uint32_t>(i), 0);
      std::memcpy(filled_->bytes + 4 * i, &value, 4);
    }
    for (uint32_t i = 0; i < 2048; ++i) {
      const uint32_t offset = i * 7919 % 1000 * 4;
      std::memcpy(filled_->bytes + kOffsets + size_t{4} * i, &offset, 4);
    }
  }
  Memory from() { return {area_->bytes, kTo}; }
  Memory to() { return {area_->bytes + kTo, kTo}; }
  Memory offsets() { return {area_->bytes + kOffsets, kTo - kOffsets}; }
  void expect_agreement(const Instruction& one, const std::string& name) {
    std::string misuses;
    EXPECT_EQ(disagreement(*filled_, area_.get(), one, &misuses), "") << name;
    EXPECT_EQ(misuses, "") << name;
  }
  void expect_misuse(const Instruction& one, const std::string& sentence) {
    *area_ = *filled_;
    TouchedBytes touched(area_->bytes, kBytes);
    one.touch(one, &touched);
    EXPECT_NE(touched.misuses.find(sentence), std::string::npos) << "not: " << sentence << ", but: " << touched.misuses;
  }
  ReduceInstruction reduce() {
    auto one = created<ReduceInstruction>(&execute_reduce, &touch_reduce);
    one.source = from();
    one.destination = to();
    one.repeats = 3;
    one.most_repeats = 255;
    one.mask = {{~uint64_t{0}, ~uint64_t{0}}, 0};
    one.destination_repeat = 1;
    one.source_stride = 1;
    one.source_repeat = 8;
    one.type = DataType::kFloat;
    return one;
  }
  std::unique_ptr<Area> area_;
  std::unique_ptr<Area> filled_;
};

constexpr RepeatMask kMasks[] = {
    {{~uint64_t{0}, ~uint64_t{0}}, 0}, {{0x1fff, 0}, 0}, {{0xf00f000100ff0180ULL, 0}, 0}, {{0, 0}, 141}, {{1, 0}, 0}};

TEST_F(VectorTouch, Reductions) {
  using R = ReduceInstruction;
  for (const auto operation : {R::Operation::kSum, R::Operation::kMax, R::Operation::kMin}) {
    for (const auto span : {R::Span::kAll, R::Span::kRepeat, R::Span::kBlock, R::Span::kPair}) {
      for (const RepeatMask& mask : kMasks) {
        for (const DataType type : {DataType::kFloat, DataType::kHalf, DataType::kInt16, DataType::kInt32}) {
          for (const auto result : {R::Result::kValue, R::Result::kValueIndex}) {
            if (result == R::Result::kValueIndex &&
                (operation == R::Operation::kSum || span == R::Span::kBlock || span == R::Span::kPair))
              continue;
            ReduceInstruction one = reduce();
            one.operation = operation;
            one.span = span;
            one.mask = mask;
            one.type = type;
            one.result = result;
            one.destination_repeat = 2;
            one.source_stride = 2;
            one.source_repeat = 17;
            expect_agreement(one, "span " + std::to_string(static_cast<int>(span)) + " type " +
                                      std::to_string(static_cast<int>(type)));
          }
        }
      }
    }
  }
  ReduceInstruction rows = reduce();
  rows.span = R::Span::kRow;
  rows.row_elements = 100;
  rows.row_step = 512;
  expect_agreement(rows, "rows");
}

TEST_F(VectorTouch, Gathers) {
  for (const RepeatMask& mask : kMasks) {
    for (const uint32_t bytes : {2U, 4U}) {
      auto one = created<GatherInstruction>(&execute_gather, &touch_gather);
      one.dense = to();
      one.spread = from();
      one.offsets = offsets();
      one.mask = mask;
      one.base = 8;
      one.repeats = 2;
      one.dense_repeat = 9;
      one.element_bytes = bytes;
      expect_agreement(one, "Gather");
      one.base = 1;
      expect_misuse(one, "no multiple of the element's size");
    }
  }
}

TEST_F(VectorTouch, PatternsShapesAndProgressions) {
  for (uint32_t fixed = 0; fixed <= 7; ++fixed) {
    auto one = created<GatherMaskInstruction>(&execute_gather_mask, &touch_gather_mask);
    one.source = from();
    one.destination = to();
    if (fixed == 0) one.pattern = offsets();
    one.fixed = fixed;
    one.elements = 21;
    one.repeats = 3;
    one.source_stride = 2;
    one.source_repeat = 7;
    one.pattern_repeat = 1;
    one.element_bytes = 4;
    expect_agreement(one, "GatherMask");
  }
  auto spread = created<SpreadInstruction>(&execute_spread, &touch_spread);
  spread.source = from();
  spread.destination = to();
  spread.element_bytes = 4;
  spread.repeats = 3;
  spread.destination_stride = 2;
  spread.destination_repeat = 17;
  spread.kind = SpreadInstruction::Kind::kBlocks;
  expect_agreement(spread, "Brcb");
  spread.kind = SpreadInstruction::Kind::kShape;
  spread.outer = 3;
  spread.copies = 5;
  spread.inner = 7;
  expect_agreement(spread, "BroadCast");
  for (const RepeatMask& mask : kMasks) {
    auto one = created<ProgressionInstruction>(&execute_progression, &touch_progression);
    one.destination = to();
    one.mask = mask;
    one.repeats = 2;
    one.step = 1;
    one.destination_stride = 2;
    one.destination_repeat = 17;
    one.type = DataType::kInt32;
    expect_agreement(one, "CreateVecIndex");
  }
}

TEST_F(VectorTouch, ElementByElement) {
  const auto operand = [](const Memory& memory, DataType type, uint32_t stride, uint32_t step) {
    return VectorOperand{memory.address, memory.bytes, stride, step, type};
  };
  for (const RepeatMask& mask : kMasks) {
    for (const uint32_t stride : {1U, 2U}) {
      for (const VectorOp op : {VectorOp::kAdd, VectorOp::kMulAddDst, VectorOp::kCast}) {
        auto one = created<VectorInstruction>(&execute_vector, &touch_vector);
        one.op = op;
        one.sources = op == VectorOp::kCast ? 1 : 2;
        one.mask = mask;
        one.repeats = 3;
        one.destination = operand(to(), DataType::kFloat, stride, 17);
        one.source[0] = operand(from(), op == VectorOp::kCast ? DataType::kHalf : DataType::kFloat, stride, 9);
        one.source[1] = operand(offsets(), DataType::kFloat, 1, 8);
        expect_agreement(one, "op " + std::to_string(static_cast<int>(op)));
      }
      auto compare = created<CompareInstruction>(&execute_compare, &touch_compare);
      compare.sources = 2;
      compare.mask = mask;
      compare.repeats = 3;
      compare.destination = operand(to(), DataType::kBits, 1, 8);
      compare.source[0] = operand(from(), DataType::kFloat, stride, 17);
      compare.source[1] = operand(offsets(), DataType::kFloat, 1, 8);
      if (mask.elements == 0 && ~mask.bits[0] == 0) expect_agreement(compare, "Compare");
      auto select = created<SelectInstruction>(&execute_select, &touch_select);
      static_cast<VectorInstruction&>(select) = compare;
      select.bytes = sizeof(select);
      select.execute = &execute_select;
      select.touch = &touch_select;
      select.destination = operand(to(), DataType::kFloat, stride, 17);
      select.bits = operand({area_->bytes + kOffsets + 4096, 4096}, DataType::kBits, 1, 8);
      expect_agreement(select, "Select");
    }
  }
}

TEST_F(VectorTouch, MasksAndRepeatsThatTheUnitHasNot) {
  const auto vector = [&](const RepeatMask& mask, uint32_t repeats, DataType type) {
    auto one = created<VectorInstruction>(&execute_vector, &touch_vector);
    one.op = type == DataType::kInt64 ? VectorOp::kDuplicate : VectorOp::kAbs;
    one.sources = type == DataType::kInt64 ? 0 : 1;
    one.mask = mask;
    one.repeats = repeats;
    one.destination = {to().address, to().bytes, 1, 8, type};
    one.source[0] = {from().address, from().bytes, 1, 8, type};
    return one;
  };
  constexpr uint64_t kAll = ~uint64_t{0};
  const std::string floats = "bits for more than 64 elements of 4 bytes";
  expect_misuse(vector({{kAll, 1}, 0}, 1, DataType::kFloat), floats);
  expect_misuse(vector({{1, kAll}, 0}, 1, DataType::kFloat), floats);
  expect_misuse(vector({{0, 1}, 0}, 1, DataType::kFloat), floats);
  expect_misuse(vector({{kAll, 0}, 0}, 1, DataType::kInt64), "bits for more than 32 elements of 8 bytes");
  expect_misuse(vector({{0, 0}, 0}, 1, DataType::kHalf), "the mask is empty");
  expect_misuse(vector({{kAll, 0}, 0}, 256, DataType::kFloat), "repeatTime is 256, at most 255");
  for (const DataType type : {DataType::kFloat, DataType::kHalf}) {
    expect_agreement(vector({{kAll, kAll}, 0}, 2, type), "the mask of ResetMask");
  }
  expect_agreement(vector({{1, 1}, 0}, 2, DataType::kHalf), "bits of half");
}

// Elements of 4 bytes: `to` and `from` in blocks behind the begin of local memory, and the steps between their repeats.
struct Overlap {
  uint32_t to, from, to_step, from_step, repeats;
  const char* misuse;
};
constexpr Overlap kOverlaps[] = {
    {0, 0, 8, 8, 3, ""},
    {8, 0, 8, 8, 1, ""},
    {1, 0, 8, 8, 1, "dst overlaps src0 in part: it begins 32 bytes behind it"},
    {0, 1, 8, 8, 1, "dst overlaps src0 in part: it begins 32 bytes before it"},
    {0, 8, 8, 8, 3, ""},  // what the repeat before has read
    {8, 0, 8, 8, 2, "dst overlaps src0: a repeat writes what a later one reads"},
    {0, 0, 0, 0, 3, ""},  // accumulates
    {0, 0, 8, 0, 3, "dst overlaps src0: a repeat writes what a later one reads"},
    {0, 0, 0, 8, 3, ""},
    {8, 0, 16, 16, 3, ""},  // every other one
};

TEST_F(VectorTouch, DestinationsThatOverlapASource) {
  const auto at = [&](uint32_t blocks) { return static_cast<uint8_t*>(from().address) + blocks * 32; };
  for (const Overlap& row : kOverlaps) {
    const std::string name = std::to_string(&row - kOverlaps);
    auto one = created<VectorInstruction>(&execute_vector, &touch_vector);
    one.op = VectorOp::kAbs;
    one.sources = 1;
    one.mask = {{~uint64_t{0}, 0}, 0};
    one.repeats = row.repeats;
    one.destination = {at(row.to), 16384, 1, row.to_step, DataType::kFloat};
    one.source[0] = {at(row.from), 16384, 1, row.from_step, DataType::kFloat};
    TouchedBytes touched(area_->bytes, kBytes);
    touch_vector(one, &touched);
    EXPECT_EQ(touched.misuses, *row.misuse == 0 ? "" : row.misuse + std::string("\n")) << name;
  }
}

TEST_F(VectorTouch, EveryFormTellsOverlaps) {
  const VectorOperand source{from().address, 16384, 1, 8, DataType::kFloat};
  VectorOperand behind = source;
  behind.address = static_cast<uint8_t*>(source.address) + 32;
  const auto plain = [&](auto one) {
    one.sources = 1;
    one.mask = {{~uint64_t{0}, 0}, 0};
    one.repeats = 1;
    one.source[0] = source;
    return one;
  };
  auto cast = plain(created<VectorInstruction>(&execute_vector, &touch_vector));
  cast.op = VectorOp::kCast;
  cast.source[0].type = DataType::kHalf;
  cast.source[0].repeat_stride = 4;
  cast.destination = source;
  expect_agreement(cast, "a repeat in its place");
  cast.repeats = 2;
  expect_misuse(cast, "dst overlaps src0: a repeat writes what a later one reads");
  auto compare = plain(created<CompareInstruction>(&execute_compare, &touch_compare));
  compare.destination = behind;
  compare.destination.type = DataType::kBits;
  expect_misuse(compare, "dst overlaps src0 in part");
  auto select = plain(created<SelectInstruction>(&execute_select, &touch_select));
  select.bits = {offsets().address, 4096, 1, 8, DataType::kBits};
  select.destination = behind;
  expect_misuse(select, "dst overlaps src0 in part");
  select.destination = {static_cast<uint8_t*>(offsets().address) - 32, 16384, 1, 8, DataType::kFloat};
  expect_misuse(select, "dst overlaps selMask in part");
  auto math = created<MathInstruction>(&execute_math, &touch_math);
  math.source = from();
  math.destination = {behind.address, 16384};
  math.count = 9;
  math.type = DataType::kFloat;
  expect_misuse(math, "dst overlaps src in part");
  math.destination = math.source;
  expect_agreement(math, "in its place");
  auto copy = created<MaskedCopyInstruction>(&execute_masked_copy, &touch_masked_copy);
  copy.source = from();
  copy.destination = {behind.address, 16384};
  copy.mask = {{~uint64_t{0}, 0}, 0};
  copy.repeats = 1;
  copy.element_bytes = 4;
  copy.source_stride = copy.destination_stride = 1;
  copy.source_repeat = copy.destination_repeat = 8;
  expect_misuse(copy, "dst overlaps src in part");
}

TEST_F(VectorTouch, Mathematics) {
  auto one = created<MathInstruction>(&execute_math, &touch_math);
  one.source = from();
  one.destination = to();
  one.count = 77;
  one.type = DataType::kFloat;
  one.function = MathInstruction::Function::kSin;
  expect_agreement(one, "Sin");
  one.number = 2.5;
  one.function = MathInstruction::Function::kPower;
  expect_agreement(one, "Power");
  one.function = MathInstruction::Function::kFmod;
  one.other = offsets();
  expect_agreement(one, "Fmod");
  one.count = 0;
  expect_agreement(one, "no elements");
}

// Blocks that have no work left pass no repeats, and dimensions of 0.
TEST_F(VectorTouch, NoRepeatsTouchNothing) {
  using R = ReduceInstruction;
  for (const R::Span span : {R::Span::kAll, R::Span::kRepeat, R::Span::kBlock, R::Span::kPair, R::Span::kRow}) {
    ReduceInstruction one = reduce();
    one.span = span;
    one.row_elements = 8;
    one.row_step = 32;
    one.repeats = 0;
    expect_agreement(one, "span " + std::to_string(static_cast<int>(span)));
  }
  auto gather = created<GatherInstruction>(&execute_gather, &touch_gather);
  gather.dense = to();
  gather.spread = from();
  gather.offsets = offsets();
  gather.mask = {{~uint64_t{0}, 0}, 0};
  gather.element_bytes = 4;
  expect_agreement(gather, "Gather");
  auto pattern = created<GatherMaskInstruction>(&execute_gather_mask, &touch_gather_mask);
  pattern.source = from();
  pattern.destination = to();
  pattern.fixed = 1;
  pattern.elements = 64;
  pattern.element_bytes = 4;
  expect_agreement(pattern, "GatherMask");
  auto spread = created<SpreadInstruction>(&execute_spread, &touch_spread);
  spread.source = from();
  spread.destination = to();
  spread.element_bytes = 4;
  spread.kind = SpreadInstruction::Kind::kBlocks;
  expect_agreement(spread, "Brcb");
  spread.kind = SpreadInstruction::Kind::kShape;
  spread.copies = 5;
  spread.inner = 7;
  expect_agreement(spread, "BroadCast");
  auto progression = created<ProgressionInstruction>(&execute_progression, &touch_progression);
  progression.destination = to();
  progression.mask = {{~uint64_t{0}, 0}, 0};
  progression.type = DataType::kInt32;
  expect_agreement(progression, "CreateVecIndex");
  auto copy = created<MaskedCopyInstruction>(&execute_masked_copy, &touch_masked_copy);
  copy.source = from();
  copy.destination = to();
  copy.mask = {{~uint64_t{0}, 0}, 0};
  copy.element_bytes = 4;
  expect_agreement(copy, "Copy");
}

TEST_F(VectorTouch, ReductionsRefuseWhatTheDeviceRefuses) {
  const auto refuses = [&](const std::function<void(ReduceInstruction*)>& change, const std::string& sentence) {
    ReduceInstruction one = reduce();
    change(&one);
    expect_misuse(one, sentence);
  };
  refuses([](auto* one) { one->source.address = static_cast<char*>(one->source.address) + 4; }, "no multiple of 32");
  refuses([](auto* one) { one->destination.address = static_cast<char*>(one->destination.address) + 2; },
          "no multiple of what a result takes");
  refuses([](auto* one) { one->mask = {}; }, "the mask is empty");
  refuses([](auto* one) { one->mask.bits[1] = 1; }, "more than 64 elements");
  refuses([](auto* one) { one->most_repeats = 2; }, "repeatTime is 3, at most 2");
}

}  // namespace
