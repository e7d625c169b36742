// Gather, GatherMask, Brcb, BroadCast and progressions against loops over elements.

#include <functional>

#include "kernel/vector_memory.h"

namespace {

using namespace AscendC;

class KernelGather : public VectorTest {};

constexpr uint32_t kElements = 4096;

// Three areas of local memory; the destination is compared whole.
template <typename T>
struct Areas {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<T> from, to;
  LocalTensor<uint32_t> offsets;
  std::vector<T> want;
  Areas() : want(kElements, T(55)) {
    pipe.InitBuffer(buffer, kElements * (2 * sizeof(T) + sizeof(uint32_t)));
    from = buffer.Get<T>();
    to = from[kElements];
    offsets = from[2 * kElements].template ReinterpretCast<uint32_t>();
    for (uint32_t i = 0; i < kElements; ++i) {
      from(i) = test_value<T>(i, 2);
      to(i) = T(55);
      offsets(i) = static_cast<uint32_t>((i * 7919ULL + 13) % 500 * sizeof(T));
    }
  }
  std::string wrong(const std::string& name) {
    for (uint32_t i = 0; i < kElements; ++i) {
      if (!is_same(to(i), want[i]))
        return name + " of " + std::to_string(sizeof(T)) + " bytes: element " + std::to_string(i) + " is " +
               std::to_string(static_cast<double>(to(i))) + ", not " + std::to_string(static_cast<double>(want[i]));
    }
    return "";
  }
};

constexpr uint64_t kBits[2] = {0x8421000f0f00ff01ULL, 0};

enum class Form { kCount, kMask, kBits };

template <typename T>
std::string gathers(Form form) {
  Areas<T> a;
  constexpr uint32_t kPer = 256 / sizeof(T);
  const uint32_t base = 3 * sizeof(T);
  const uint32_t repeat_blocks = form == Form::kCount ? 8 : 9;
  const uint32_t count = form == Form::kCount ? 301 : 3 * kPer;
  for (uint32_t i = 0; i < count; ++i) {
    if (form == Form::kMask && i % kPer >= 21) continue;
    if (form == Form::kBits && (i % kPer >= 64 || (kBits[0] >> i % kPer & 1) == 0)) continue;
    const uint32_t dense = i / kPer * repeat_blocks * (kPer / 8) + i % kPer;
    const uint32_t place = (base + a.offsets(i)) / sizeof(T);
    a.want[dense] = a.from(place);
  }
  switch (form) {
    case Form::kCount: Gather(a.to, a.from, a.offsets, base, count); break;
    case Form::kMask: Gather(a.to, a.from, a.offsets, base, uint64_t{21}, 3, 9); break;
    case Form::kBits: Gather(a.to, a.from, a.offsets, base, kBits, 3, 9); break;
  }
  return a.wrong("Gather");
}

struct Pattern {
  uint8_t fixed;  // 0: a tensor
  bool counts;
  uint32_t mask;
  GatherMaskParams params;
};
const std::vector<Pattern> kPatterns = [] {
  std::vector<Pattern> all;
  for (uint8_t fixed = 0; fixed <= 7; ++fixed) {
    all.push_back({fixed, false, 0, {1, 2, 8, 0}});
    all.push_back({fixed, false, 0, {2, 3, 17, 8}});
    all.push_back({fixed, true, 2, {1, 5, 1, 0}});
    all.push_back({fixed, true, 300, {1, 1, 8, 8}});
    all.push_back({fixed, true, 21, {1, 4, 3, 1}});
  }
  return all;
}();

template <typename T>
std::string gathers_masked(const Pattern& p) {
  Areas<T> a;
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  constexpr uint32_t kPer = 256 / sizeof(T);
  constexpr uint32_t kBlk = kPer / 8;
  for (uint32_t i = 0; i < kElements; ++i) a.offsets(i) = 0x9e3779b9U * (i + 1);
  const uint32_t elements = p.counts ? p.mask : kPer;
  uint64_t want_count = 0;
  for (uint32_t r = 0; r < p.params.repeatTimes; ++r) {
    for (uint32_t i = 0; i < elements; ++i) {
      bool on = false;
      switch (p.fixed) {
        case 0: on = a.offsets(r * p.params.src1RepeatStride * 8 + i / 32) >> i % 32 & 1; break;
        case 1: on = i % 2 == 0; break;
        case 2: on = i % 2 == 1; break;
        case 7: on = true; break;
        default: on = i % 4 == p.fixed - 3U;
      }
      if (on)
        a.want[want_count++] =
            a.from((r * p.params.src0RepeatStride + i / kBlk * p.params.src0BlockStride) * kBlk + i % kBlk);
    }
  }
  uint64_t count = 0;
  if (p.fixed == 0)
    GatherMask(a.to, a.from, a.offsets.template ReinterpretCast<Bits>(), p.counts, p.mask, p.params, count);
  else
    GatherMask(a.to, a.from, p.fixed, p.counts, p.mask, p.params, count);
  if (count != want_count) return "GatherMask counts " + std::to_string(count);
  return a.wrong("GatherMask " + std::to_string(p.fixed));
}

template <typename T>
std::string broadcasts_blocks(BrcbRepeatParams params) {
  Areas<T> a;
  constexpr uint32_t kBlk = 32 / sizeof(T);
  for (uint32_t r = 0; r < 3; ++r) {
    for (uint32_t i = 0; i < 8 * kBlk; ++i)
      a.want[(r * params.dstRepStride + i / kBlk * params.dstBlkStride) * kBlk + i % kBlk] = a.from(r * 8 + i / kBlk);
  }
  Brcb(a.to, a.from, 3, params);
  return a.wrong("Brcb");
}

template <typename T>
std::string broadcasts_shapes() {
  std::string wrong;
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 7 * 24; ++i) a.want[i] = a.from(i / 24);
    BroadCast<T, 2, 1>(a.to, a.from, {7, 24}, {7, 1});
    wrong += a.wrong("BroadCast of columns");
  }
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 5 * 40; ++i) a.want[i] = a.from(i % 40);
    BroadCast<T, 2, 0>(a.to, a.from, {5, 40}, {1, 40}, a.offsets.template ReinterpretCast<uint8_t>());
    wrong += a.wrong("BroadCast of rows");
  }
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 33; ++i) a.want[i] = a.from(0);
    BroadCast<T, 1, 0>(a.to, a.from, {33}, {1});
    wrong += a.wrong("BroadCast of one");
  }
  return wrong;
}

template <typename T>
std::string counts_up() {
  constexpr uint32_t kPer = 256 / sizeof(T);
  std::string wrong;
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 150; ++i) a.want[i] = static_cast<T>(static_cast<int32_t>(i) - 5);
    CreateVecIndex(a.to, T(-5), 150U);
    wrong += a.wrong("CreateVecIndex");
  }
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 2 * kPer; ++i) {
      if (i % kPer < 20) a.want[(i / kPer * 17 + i % kPer / (kPer / 8) * 2) * (kPer / 8) + i % (kPer / 8)] = T(i + 3);
    }
    CreateVecIndex(a.to, T(3), uint64_t{20}, 2, 2, 17);
    wrong += a.wrong("CreateVecIndex with a mask");
  }
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 2 * kPer; ++i) {
      if (i % kPer < 64 && (kBits[0] >> i % kPer & 1) != 0) a.want[i] = T(i);
    }
    CreateVecIndex(a.to, T(0), kBits, 2, 1, 8);
    wrong += a.wrong("CreateVecIndex with bits");
  }
  {
    Areas<T> a;
    for (uint32_t i = 0; i < 99; ++i) a.want[i] = static_cast<T>(8 - 3 * static_cast<int32_t>(i));
    ArithProgression<T>(a.to, 8, -3, 99);
    wrong += a.wrong("ArithProgression");
  }
  return wrong;
}

template <typename T>
std::string check_all() {
  std::string wrong;
  for (const Form form : {Form::kCount, Form::kMask, Form::kBits}) wrong += gathers<T>(form);
  for (const Pattern& p : kPatterns) wrong += gathers_masked<T>(p);
  wrong += broadcasts_blocks<T>({1, 8}) + broadcasts_blocks<T>({2, 17}) + broadcasts_shapes<T>();
  if constexpr (!std::is_unsigned_v<T>) wrong += counts_up<T>();
  return wrong;
}

TEST_F(KernelGather, MatchesLoopsOverElements) {
  for (auto* check : {&check_all<float>, &check_all<half>, &check_all<int32_t>, &check_all<int16_t>,
                      &check_all<uint32_t>, &check_all<uint16_t>}) {
    std::string wrong;
    in_kernel([&] { wrong = check(); });
    EXPECT_EQ(wrong, "");
  }
}

TEST_F(KernelGather, RefusesShapesAndPatternsThatAreNone) {
  const std::function<void()> shapes = [] {
    Areas<float> a;
    BroadCast<float, 2, 1>(a.to, a.from, {7, 24}, {7, 2});
  };
  EXPECT_NE(run("vector", 1, Arguments{&shapes}, Call()), ACL_SUCCESS);
  EXPECT_NE(std::string(recent_error()).find("1 at the axis"), std::string::npos) << recent_error();
  const std::function<void()> pattern = [] {
    Areas<float> a;
    uint64_t count = 0;
    GatherMask(a.to, a.from, 8, false, 0, {1, 1, 8, 0}, count);
  };
  EXPECT_NE(run("vector", 1, Arguments{&pattern}, Call()), ACL_SUCCESS);
}

}  // namespace
