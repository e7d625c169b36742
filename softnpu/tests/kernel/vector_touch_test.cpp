// What instructions say that they touch is what they touch: bytes that they do not read make no difference, bytes that
// they do not write stay, bytes that they write depend on nothing but what they read.

#include <functional>
#include <memory>

#include "kernel/vector_memory.h"
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
I made(void (*execute)(const Instruction&), void (*touch)(const Instruction&, Touches*)) {
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
    std::string misuses;
    disagreement(*filled_, area_.get(), one, &misuses);
    EXPECT_NE(misuses.find(sentence), std::string::npos) << "not: " << sentence << ", but: " << misuses;
  }
  ReduceInstruction reduce() {
    auto one = made<ReduceInstruction>(&execute_reduce, &touch_reduce);
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
      auto one = made<GatherInstruction>(&execute_gather, &touch_gather);
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
    auto one = made<GatherMaskInstruction>(&execute_gather_mask, &touch_gather_mask);
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
  auto spread = made<SpreadInstruction>(&execute_spread, &touch_spread);
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
    auto one = made<ProgressionInstruction>(&execute_progression, &touch_progression);
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
        auto one = made<VectorInstruction>(&execute_vector, &touch_vector);
        one.op = op;
        one.sources = op == VectorOp::kCast ? 1 : 2;
        one.mask = mask;
        one.repeats = 3;
        one.destination = operand(to(), DataType::kFloat, stride, 17);
        one.source[0] = operand(from(), op == VectorOp::kCast ? DataType::kHalf : DataType::kFloat, stride, 9);
        one.source[1] = operand(offsets(), DataType::kFloat, 1, 8);
        expect_agreement(one, "op " + std::to_string(static_cast<int>(op)));
      }
      auto compare = made<CompareInstruction>(&execute_compare, &touch_compare);
      compare.sources = 2;
      compare.mask = mask;
      compare.repeats = 3;
      compare.destination = operand(to(), DataType::kBits, 1, 8);
      compare.source[0] = operand(from(), DataType::kFloat, stride, 17);
      compare.source[1] = operand(offsets(), DataType::kFloat, 1, 8);
      if (mask.elements == 0 && ~mask.bits[0] == 0) expect_agreement(compare, "Compare");
      auto select = made<SelectInstruction>(&execute_select, &touch_select);
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

TEST_F(VectorTouch, Mathematics) {
  auto one = made<MathInstruction>(&execute_math, &touch_math);
  one.source = from();
  one.destination = to();
  one.count = 77;
  one.type = DataType::kFloat;
  one.function = MathInstruction::Function::kSin;
  expect_agreement(one, "Sin");
  one.number = 2.5;
  one.function = MathInstruction::Function::kPower;
  expect_agreement(one, "Power");
  one.count = 0;
  expect_misuse(one, "the number of elements is 0");
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
  refuses([](auto* one) { one->repeats = 0; }, "repeats is 0");
  refuses([](auto* one) { one->most_repeats = 2; }, "more than 255 repeats");
}

}  // namespace
