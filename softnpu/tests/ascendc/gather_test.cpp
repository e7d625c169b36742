// Gather, GatherMask, Brcb, BroadCast and progressions against loops over elements.

#include <functional>

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelGather : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

constexpr uint32_t kElements = 4096;

struct Shape {
  uint32_t of[2];
};

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
    wait_for_pipes();
  }
  // What is wrong; where nothing is, the cell was compared.
  std::string result(const std::string& name, const std::string& variant, bool is_strided) {
    std::string found = wrong(name);
    if (found.empty()) cells::record(name, variant, cells::type_name<T>(), is_strided);
    return found;
  }
  std::string wrong(const std::string& name) {
    wait_for_pipes();
    for (uint32_t i = 0; i < kElements; ++i) {
      if (!is_same(to(i), want[i]))
        return name + " of " + std::to_string(sizeof(T)) + " bytes: element " + std::to_string(i) + " is " +
               std::to_string(static_cast<double>(to(i))) + ", not " + std::to_string(static_cast<double>(want[i]));
    }
    return "";
  }
};

constexpr uint64_t kBits[2] = {0x8421000f0f00ff01ULL, 0};

enum class Variant { kCount, kMask, kBits, kCounter };
constexpr const char* kWords[] = {"count", "mask", "bits", "counter"};

// Whether the form has element `i` of all repeats.
template <typename T>
bool has(Variant variant, uint32_t i) {
  constexpr uint32_t kPer = 256 / sizeof(T);
  switch (variant) {
    case Variant::kCount: return i < 301;
    case Variant::kMask: return i % kPer < 21;
    case Variant::kBits: return i % kPer < 64 && (kBits[0] >> i % kPer & 1) != 0;
    case Variant::kCounter: return i < 2 * kPer + 5;
  }
  return false;
}

template <typename T>
std::string gathers(Variant variant, uint16_t repeat_blocks) {
  Areas<T> a;
  constexpr uint32_t kPer = 256 / sizeof(T);
  const uint32_t base = 3 * sizeof(T);
  for (uint32_t i = 0; i < (variant == Variant::kCount ? 301 : 3 * kPer); ++i) {
    if (!has<T>(variant, i)) continue;
    const uint32_t dense = i / kPer * repeat_blocks * (kPer / 8) + i % kPer;
    const uint32_t location = (base + a.offsets.GetValue(i)) / sizeof(T);
    a.want[dense] = a.from.GetValue(location);
  }
  switch (variant) {
    case Variant::kCount: Gather(a.to, a.from, a.offsets, base, 301); break;
    case Variant::kMask: Gather(a.to, a.from, a.offsets, base, uint64_t{21}, 3, repeat_blocks); break;
    case Variant::kBits: Gather(a.to, a.from, a.offsets, base, kBits, 3, repeat_blocks); break;
    case Variant::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(0);
      Gather(a.to, a.from, a.offsets, base, uint64_t{2 * kPer + 5}, 1, repeat_blocks);
      SetMaskNorm();
      ResetMask();
  }
  return a.result("Gather", kWords[static_cast<int>(variant)], repeat_blocks != 8);
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
    all.push_back({fixed, true, 30, {2, 4, 8, 1}});
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
  wait_for_pipes();
  const uint32_t elements = p.counts ? p.mask : kPer;
  uint64_t want_count = 0;
  for (uint32_t r = 0; r < p.params.repeatTimes; ++r) {
    for (uint32_t i = 0; i < elements; ++i) {
      bool on = false;
      switch (p.fixed) {
        case 0: on = a.offsets.GetValue(r * p.params.src1RepeatStride * 8 + i / 32) >> i % 32 & 1; break;
        case 1: on = i % 2 == 0; break;
        case 2: on = i % 2 == 1; break;
        case 7: on = true; break;
        default: on = i % 4 == p.fixed - 3U;
      }
      if (on)
        a.want[want_count++] =
            a.from.GetValue((r * p.params.src0RepeatStride + i / kBlk * p.params.src0BlockStride) * kBlk + i % kBlk);
    }
  }
  uint64_t count = 0;
  if (p.fixed == 0)
    GatherMask(a.to, a.from, a.offsets.template ReinterpretCast<Bits>(), p.counts, p.mask, p.params, count);
  else
    GatherMask(a.to, a.from, p.fixed, p.counts, p.mask, p.params, count);
  if (count != want_count) return "GatherMask counts " + std::to_string(count);
  return a.result("GatherMask", std::string(p.fixed == 0 ? "tensor" : "pattern") + (p.counts ? "-count" : ""),
                  p.params.src0BlockStride != 1 || p.params.src0RepeatStride != 8);
}

template <typename T>
std::string broadcasts_blocks(BrcbRepeatParams params) {
  Areas<T> a;
  constexpr uint32_t kBlk = 32 / sizeof(T);
  for (uint32_t r = 0; r < 3; ++r) {
    for (uint32_t i = 0; i < 8 * kBlk; ++i)
      a.want[(r * params.dstRepStride + i / kBlk * params.dstBlkStride) * kBlk + i % kBlk] =
          a.from.GetValue(r * 8 + i / kBlk);
  }
  Brcb(a.to, a.from, 3, params);
  return a.result("Brcb", "repeats", params.dstBlkStride != 1 || params.dstRepStride != 8);
}

template <typename T, int32_t dimensions, int32_t axis>
std::string broadcasts(const char* variant, const Shape& to, const Shape& from, uint32_t copies, uint32_t inner) {
  std::string wrong;
  for (const bool has_work : {false, true}) {
    Areas<T> a;
    const uint32_t outer = axis == 0 ? 1 : to.of[0];
    for (uint32_t i = 0; i < outer * copies * inner; ++i)
      a.want[i] = a.from.GetValue(i / (copies * inner) * inner + i % inner);
    if (has_work)
      BroadCast<T, dimensions, axis>(a.to, a.from, to.of, from.of, a.offsets.template ReinterpretCast<uint8_t>());
    else
      BroadCast<T, dimensions, axis>(a.to, a.from, to.of, from.of);
    wrong += a.result("BroadCast", variant + std::string(has_work ? "-work" : ""), false);
  }
  return wrong;
}

// CreateVecIndex; `stride` and `repeat` are those of the destination.
template <typename T>
std::string counts_up(Variant variant, uint16_t stride, uint8_t repeat) {
  constexpr uint32_t kPer = 256 / sizeof(T);
  constexpr uint32_t kBlk = kPer / 8;
  Areas<T> a;
  const T first(-5);
  for (uint32_t i = 0; i < (variant == Variant::kCount ? 301 : 3 * kPer); ++i) {
    const uint32_t strided = (i / kPer * repeat + i % kPer / kBlk * stride) * kBlk + i % kBlk;
    if (has<T>(variant, i))
      a.want[variant == Variant::kCount ? i : strided] = static_cast<T>(static_cast<int32_t>(i) - 5);
  }
  switch (variant) {
    case Variant::kCount: CreateVecIndex(a.to, first, 301U); break;
    case Variant::kMask: CreateVecIndex(a.to, first, uint64_t{21}, 3, stride, repeat); break;
    case Variant::kBits: CreateVecIndex(a.to, first, kBits, 3, stride, repeat); break;
    case Variant::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(0);
      CreateVecIndex(a.to, first, uint64_t{2 * kPer + 5}, 1, stride, repeat);
      SetMaskNorm();
      ResetMask();
  }
  return a.result("CreateVecIndex", kWords[static_cast<int>(variant)], stride != 1 || repeat != 8);
}

// Rounded once: whole steps, ones that wrap int16_t, and ones that no floating-point type has.
template <typename T>
std::string progresses() {
  std::string wrong;
  for (const float step : {-3.0F, 1000.0F, 0.1F}) {
    Areas<T> a;
    const T typed = static_cast<T>(step);
    for (uint32_t i = 0; i < 99; ++i) {
      if constexpr (std::is_integral_v<T>)
        a.want[i] = static_cast<T>(8 + int64_t{typed} * i);
      else
        a.want[i] = static_cast<T>(8 + static_cast<double>(typed) * i);
    }
    ArithProgression<T>(a.to, 8, typed, 99);
    wrong += a.result("ArithProgression", "count", false);
  }
  return wrong;
}

// Elements of any size.
template <typename T>
std::string check_shapes() {
  return broadcasts<T, 2, 1>("columns", {7, 24}, {7, 1}, 24, 1) + broadcasts<T, 2, 0>("rows", {5, 40}, {1, 40}, 5, 40) +
         broadcasts<T, 1, 0>("one", {33, 0}, {1, 0}, 33, 1);
}

template <typename T>
std::string check_all() {
  std::string wrong = check_shapes<T>();
  constexpr Variant kForms[] = {Variant::kCount, Variant::kMask, Variant::kBits, Variant::kCounter};
  for (const Variant variant : kForms) {
    wrong += gathers<T>(variant, 8);
    if (variant != Variant::kCount) wrong += gathers<T>(variant, 9);
  }
  for (const Pattern& p : kPatterns) wrong += gathers_masked<T>(p);
  wrong += broadcasts_blocks<T>({1, 8}) + broadcasts_blocks<T>({2, 17});
  if constexpr (!std::is_unsigned_v<T> && !std::is_same_v<T, bfloat16_t>) {
    for (const Variant variant : kForms) {
      wrong += counts_up<T>(variant, 1, 8);
      if (variant != Variant::kCount) wrong += counts_up<T>(variant, 2, 17);
    }
    wrong += progresses<T>();
  }
  return wrong;
}

void compare_all() {
  for (auto* check : {&check_all<float>, &check_all<half>, &check_all<bfloat16_t>, &check_all<int32_t>,
                      &check_all<int16_t>, &check_all<uint32_t>, &check_all<uint16_t>, &check_shapes<int8_t>,
                      &check_shapes<uint8_t>, &check_shapes<int64_t>, &check_shapes<uint64_t>}) {
    std::string wrong;
    KernelGather::in_kernel([&] { wrong = check(); });
    EXPECT_EQ(wrong, "");
  }
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelGather, MatchesLoopsOverElements) { kFamily.run(); }

TEST_F(KernelGather, RepeatsFollowEachOtherByDefault) {
  uint64_t count = 0;
  std::string wrong;
  in_kernel([&] {
    Areas<float> a;
    GatherMaskParams params;
    params.repeatTimes = 3;
    GatherMask(a.to, a.from, 1, false, 0, params, count);
    for (uint32_t i = 0; i < 96; ++i) a.want[i] = a.from.GetValue(2 * i);
    wrong = a.wrong("GatherMask");
  });
  EXPECT_EQ(count, 96U);
  EXPECT_EQ(wrong, "");
}

TEST_F(KernelGather, RefusesShapesAndPatternsThatAreNone) {
  const std::function<void()> shapes = [] {
    Areas<float> a;
    BroadCast<float, 2, 1>(a.to, a.from, Shape{7, 24}.of, Shape{7, 2}.of);
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
