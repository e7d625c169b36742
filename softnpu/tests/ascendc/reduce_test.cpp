// Reductions of all forms, types, masks and strides against loops over elements.

#include <bit>
#include <set>
#include <tuple>

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelReduce : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

enum class Op { kSum, kMax, kMin };
enum class Variant { kCount, kCountIndex, kMasked, kMaskedIndex, kWhole, kBlock, kPair, kRepeat, kSum, kSumWork };
enum class Masks { kAll, kFirst, kBits, kCore, kCounter };
struct Strides {
  int destination, block, repeat;
};
constexpr Strides kStrides[] = {{1, 1, 8}, {2, 1, 9}, {1, 2, 16}, {1, 1, 4}, {3, 1, 0}};
constexpr int kRepeats = 3;
constexpr uint32_t kElements = 8192;

struct Case {
  Op op;
  Variant variant;
  Masks masks;
  size_t strides;
  ReduceOrder order;
  uint32_t seed;
  int count;  // of the count forms
};

template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<int64_t>(a) + b);
  else
    return static_cast<T>(static_cast<float>(a) + static_cast<float>(b));
}

// An element or none: what the mask leaves out.
template <typename T>
struct Some {
  bool has = false;
  T value{};
  uint32_t at = 0;
};
template <typename T>
Some<T> tree(std::vector<Some<T>> v) {
  while (v.size() > 1) {
    std::vector<Some<T>> half_of;
    for (size_t i = 0; i < v.size(); i += 2) {
      const auto &a = v[i], &b = v[i + 1];
      half_of.push_back(a.has && b.has ? Some<T>{true, add(a.value, b.value), a.at} : a.has ? a : b);
    }
    v = half_of;
  }
  return v[0];
}
template <typename T>
Some<T> best(const std::vector<Some<T>>& v, bool is_max) {
  Some<T> chosen;
  for (const auto& s : v) {
    if (!s.has) continue;
    const bool wins =
        !chosen.has || (chosen.value == chosen.value &&
                        (s.value != s.value || (is_max ? s.value > chosen.value : s.value < chosen.value)));
    if (wins) chosen = s;
  }
  return chosen;
}
template <typename T>
Some<T> reduced(const std::vector<Some<T>>& v, Op op) {
  return op == Op::kSum ? tree(v) : best(v, op == Op::kMax);
}

template <typename T>
bool is_on(const Case& c, uint32_t r, uint32_t i) {
  constexpr uint32_t kPer = 256 / sizeof(T);
  switch (c.masks) {
    case Masks::kAll: return true;
    case Masks::kFirst: return i < 13;
    case Masks::kCounter: return r * kPer + i < 2 * kPer + 21;
    default: return i < 64 ? (0xf0f0a0000f0f0e01ULL >> i & 1) != 0 : (0x8000000000000101ULL >> (i - 64) & 1) != 0;
  }
}

template <typename T>
using IndexOf = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
template <typename T>
T index_bits(uint32_t i) {
  return std::bit_cast<T>(static_cast<IndexOf<T>>(i));
}

template <typename T>
void put(std::vector<T>* want, size_t at, ReduceOrder order, const Some<T>& s, uint32_t index) {
  switch (order) {
    case ReduceOrder::kValueIndex:
      (*want)[at] = s.value;
      (*want)[at + 1] = index_bits<T>(index);
      break;
    default: (*want)[at] = s.value;
  }
}

bool is_counted(Variant variant) { return variant == Variant::kCount || variant == Variant::kCountIndex; }

template <typename T>
std::vector<T> reference(const Case& c, const T* from, std::vector<T> want) {
  constexpr uint32_t kPer = 256 / sizeof(T);
  constexpr uint32_t kBlk = kPer / 8;
  const Strides s = is_counted(c.variant) ? kStrides[0] : kStrides[c.strides];
  if (c.variant == Variant::kSum || c.variant == Variant::kSumWork) {
    for (uint32_t row = 0; row < 3; ++row) {
      Some<T> total;
      for (uint32_t r = 0; r * kPer < static_cast<uint32_t>(c.count); ++r) {
        std::vector<Some<T>> v(kPer);
        for (uint32_t i = 0; i < kPer && r * kPer + i < static_cast<uint32_t>(c.count); ++i)
          v[i] = {true, from[row * 512 + r * kPer + i], 0};
        const Some<T> one = tree(v);
        total = {true, total.has ? add(total.value, one.value) : one.value, 0};
      }
      want[row] = total.value;
    }
    return want;
  }
  Some<T> total;
  std::vector<Some<T>> repeats_best;
  const uint32_t repeats = is_counted(c.variant) ? (static_cast<uint32_t>(c.count) + kPer - 1) / kPer : kRepeats;
  for (uint32_t r = 0; r < repeats; ++r) {
    std::vector<Some<T>> v(kPer);
    for (uint32_t i = 0; i < kPer; ++i) {
      const uint32_t at = (r * s.repeat + i / kBlk * s.block) * kBlk + i % kBlk;
      const bool on = is_counted(c.variant) ? r * kPer + i < static_cast<uint32_t>(c.count) : is_on<T>(c, r, i);
      if (on) v[i] = {true, from[at], c.variant == Variant::kWhole ? i : at};
    }
    const auto group = [&](uint32_t size) {
      for (uint32_t g = 0; g < kPer / size; ++g) {
        const Some<T> one = reduced(std::vector<Some<T>>(v.begin() + g * size, v.begin() + (g + 1) * size), c.op);
        if (one.has) want[r * s.destination * (kPer / size) + g] = one.value;
      }
    };
    const bool two = c.order == ReduceOrder::kValueIndex;
    switch (c.variant) {
      case Variant::kWhole:
      case Variant::kRepeat:
        if (const Some<T> one = reduced(v, c.op); one.has)
          put(&want, r * s.destination * (two ? 2 : 1), c.order, one, one.at);
        break;
      case Variant::kBlock: group(kBlk); break;
      case Variant::kPair: group(2); break;
      default: repeats_best.push_back(reduced(v, c.op));
    }
  }
  if (!repeats_best.empty()) {
    for (const auto& one : repeats_best) {
      if (!one.has) continue;
      total = !total.has         ? one
              : c.op == Op::kSum ? Some<T>{true, add(total.value, one.value), 0}
                                 : best<T>({total, one}, c.op == Op::kMax);
    }
    const bool indexed = c.variant == Variant::kCountIndex || c.variant == Variant::kMaskedIndex;
    put(&want, 0, indexed ? ReduceOrder::kValueIndex : ReduceOrder::ORDER_ONLY_VALUE, total, total.at);
  }
  return want;
}

template <typename T, bool sets, typename Mask>
void call(const Case& c, const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& work,
          const Mask& mask) {
  const auto [d, b, r] = kStrides[c.strides];
  const bool with_index = c.variant == Variant::kCountIndex || c.variant == Variant::kMaskedIndex;
  switch (c.variant) {
    case Variant::kCount:
    case Variant::kCountIndex:
      if (c.op == Op::kSum) ReduceSum(to, from, work, c.count);
      if (c.op == Op::kMax) ReduceMax(to, from, work, c.count, with_index);
      if (c.op == Op::kMin) ReduceMin(to, from, work, c.count, with_index);
      break;
    case Variant::kMasked:
    case Variant::kMaskedIndex:
      if (c.op == Op::kSum) ReduceSum(to, from, work, mask, kRepeats, r);
      if (c.op == Op::kMax) ReduceMax(to, from, work, mask, kRepeats, r, with_index);
      if (c.op == Op::kMin) ReduceMin(to, from, work, mask, kRepeats, r, with_index);
      break;
    case Variant::kWhole:
      if (c.op == Op::kSum) WholeReduceSum<T, sets>(to, from, mask, kRepeats, d, b, r);
      if (c.op == Op::kMax) WholeReduceMax<T, sets>(to, from, mask, kRepeats, d, b, r, c.order);
      if (c.op == Op::kMin) WholeReduceMin<T, sets>(to, from, mask, kRepeats, d, b, r, c.order);
      break;
    case Variant::kBlock:
      if (c.op == Op::kSum) BlockReduceSum(to, from, kRepeats, mask, d, b, r);
      if (c.op == Op::kMax) BlockReduceMax(to, from, kRepeats, mask, d, b, r);
      if (c.op == Op::kMin) BlockReduceMin(to, from, kRepeats, mask, d, b, r);
      break;
    case Variant::kPair: PairReduceSum(to, from, kRepeats, mask, d, b, r); break;
    case Variant::kRepeat:
      if constexpr (std::is_integral_v<Mask>) RepeatReduceSum(to, from, kRepeats, mask, 0, b, d, r);
      break;
    case Variant::kSum: Sum(to, from, {3, 512, static_cast<uint32_t>(c.count)}); break;
    case Variant::kSumWork:
      Sum(to, from, work.template ReinterpretCast<uint8_t>(), {3, 512, static_cast<uint32_t>(c.count)});
      break;
  }
}

// As kernels and as instructions.tsv call it.
std::string name_of(const Case& c) {
  const std::string op = c.op == Op::kSum ? "Sum" : c.op == Op::kMax ? "Max" : "Min";
  switch (c.variant) {
    case Variant::kWhole: return "WholeReduce" + op;
    case Variant::kBlock: return "BlockReduce" + op;
    case Variant::kPair: return "PairReduce" + op;
    case Variant::kRepeat: return "RepeatReduce" + op;
    case Variant::kSum:
    case Variant::kSumWork: return op;
    default: return "Reduce" + op;
  }
}
std::string word_of(const Case& c) {
  if (c.variant == Variant::kSum) return "rows";
  if (c.variant == Variant::kSumWork) return "rows-work";
  constexpr const char* kWords[] = {"mask", "mask", "bits", "core", "counter"};
  const bool has_index = c.variant == Variant::kCountIndex || c.variant == Variant::kMaskedIndex ||
                         (c.variant == Variant::kWhole && c.order == ReduceOrder::kValueIndex);
  return std::string(is_counted(c.variant) ? "count" : kWords[static_cast<int>(c.masks)]) + (has_index ? "-index" : "");
}

template <typename T>
void check(const Case& c, std::string* wrong) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kElements * sizeof(T) + 1024);
  LocalTensor<T> from = buffer.Get<T>();
  LocalTensor<T> to = from[kElements];
  LocalTensor<T> work = from[2 * kElements];
  auto* source = reinterpret_cast<T*>(from.GetPhyAddr());
  auto* destination = reinterpret_cast<T*>(to.GetPhyAddr());
  for (uint32_t i = 0; i < kElements; ++i) {
    source[i] = test_value<T>(i, c.seed);
    destination[i] = T(77);
  }
  has_written(from, 2 * kElements);
  const std::vector<T> want = reference<T>(c, source, std::vector<T>(kElements, T(77)));
  constexpr int kPer = 256 / sizeof(T);
  const uint64_t bits[2] = {0xf0f0a0000f0f0e01ULL, sizeof(T) == 4 ? 0 : 0x8000000000000101ULL};
  switch (c.masks) {
    case Masks::kAll: call<T, true>(c, to, from, work, kPer); break;
    case Masks::kFirst: call<T, true>(c, to, from, work, 13); break;
    case Masks::kBits: call<T, true>(c, to, from, work, bits); break;
    case Masks::kCore:
      SetVectorMask<T>(bits[1], bits[0]);
      call<T, false>(c, to, from, work, 0);
      ResetMask();
      break;
    case Masks::kCounter:
      SetVectorMask<T, MaskMode::COUNTER>(c.variant == Variant::kWhole ? 2 * kPer + 21 : 0);
      if (c.variant == Variant::kWhole)
        call<T, false>(c, to, from, work, 0);
      else
        call<T, true>(c, to, from, work, 2 * kPer + 21);
      SetMaskNorm();
      ResetMask();
      break;
  }
  wait_for_pipes();
  for (uint32_t i = 0; i < kElements && wrong->empty(); ++i) {
    if (!is_same(destination[i], want[i]))
      *wrong = "element " + std::to_string(i) + ": " + std::to_string(static_cast<float>(destination[i])) + ", not " +
               std::to_string(static_cast<float>(want[i]));
  }
  if (wrong->empty()) cells::record(name_of(c), word_of(c), cells::type_name<T>(), c.strides != 0);
}

using Cell = std::tuple<Op, Variant, Masks, size_t>;

// Which cells there must be: for each form its operations, masks and strides.
struct Row {
  Variant variant;
  std::vector<Op> ops;
  std::vector<Masks> masks;
  std::vector<size_t> strides;
};
const std::vector<Op> kAllOps = {Op::kSum, Op::kMax, Op::kMin};
const std::vector<Op> kIndexed = {Op::kMax, Op::kMin};
const std::vector<Masks> kGiven = {Masks::kAll, Masks::kFirst, Masks::kBits, Masks::kCounter};
const std::vector<Row> kRows = {
    {Variant::kCount, kAllOps, {Masks::kAll}, {0}},
    {Variant::kCountIndex, kIndexed, {Masks::kAll}, {0}},
    {Variant::kMasked, kAllOps, kGiven, {0, 1, 3, 4}},
    {Variant::kMaskedIndex, kIndexed, kGiven, {0, 1, 3, 4}},
    {Variant::kWhole,
     kAllOps,
     {Masks::kAll, Masks::kFirst, Masks::kBits, Masks::kCore, Masks::kCounter},
     {0, 1, 2, 3, 4}},
    {Variant::kBlock, kAllOps, kGiven, {0, 1, 2, 3, 4}},
    {Variant::kPair, {Op::kSum}, kGiven, {0, 1, 2, 3, 4}},
    {Variant::kRepeat, {Op::kSum}, {Masks::kAll, Masks::kFirst, Masks::kCounter}, {0, 3}},
    {Variant::kSum, {Op::kSum}, {Masks::kAll}, {0}},
    {Variant::kSumWork, {Op::kSum}, {Masks::kAll}, {0}},
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Op op : {Op::kSum, Op::kMax, Op::kMin}) {
    for (const Variant variant :
         {Variant::kCount, Variant::kCountIndex, Variant::kMasked, Variant::kMaskedIndex, Variant::kWhole,
          Variant::kBlock, Variant::kPair, Variant::kRepeat, Variant::kSum, Variant::kSumWork}) {
      const bool sums = variant >= Variant::kPair;
      const bool indexes = variant == Variant::kCountIndex || variant == Variant::kMaskedIndex;
      if ((sums && op != Op::kSum) || (indexes && op == Op::kSum)) continue;
      for (uint32_t seed = 0; seed < 6; ++seed) {
        if (is_counted(variant) || variant == Variant::kSum || variant == Variant::kSumWork) {
          for (const int count : {1, 7, 64, 100, 128, 500, 3000}) {
            if ((variant == Variant::kSum || variant == Variant::kSumWork) && count > 512)
              continue;  // a row has no more
            all.push_back({op, variant, Masks::kAll, 0, ReduceOrder::ORDER_ONLY_VALUE, seed, count});
          }
          continue;
        }
        for (const Masks masks : {Masks::kAll, Masks::kFirst, Masks::kBits, Masks::kCore, Masks::kCounter}) {
          const bool level0 = variant == Variant::kMasked || variant == Variant::kMaskedIndex;
          if (masks == Masks::kCore && variant != Variant::kWhole) continue;  // only its forms take the core's mask
          if (variant == Variant::kRepeat && masks == Masks::kBits) continue;
          for (size_t s = 0; s < std::size(kStrides); ++s) {
            if (level0 && kStrides[s].block != 1) continue;
            if (variant == Variant::kRepeat && (kStrides[s].block != 1 || kStrides[s].destination != 1)) continue;
            if (variant == Variant::kWhole && op != Op::kSum) {
              all.push_back({op, variant, masks, s, ReduceOrder::kValueIndex, seed, 0});
            }
            all.push_back({op, variant, masks, s, ReduceOrder::ORDER_ONLY_VALUE, seed, 0});
          }
        }
      }
    }
  }
  return all;
}

template <typename T>
void check_all(std::string* wrong) {
  const std::vector<Case> all = cases();
  for (size_t i = 0; i < all.size() && wrong->empty(); ++i) {
    check<T>(all[i], wrong);
    if (!wrong->empty())
      *wrong += " in case " + std::to_string(i) + ": op " + std::to_string(static_cast<int>(all[i].op)) + " form " +
                std::to_string(static_cast<int>(all[i].variant)) + " mask " +
                std::to_string(static_cast<int>(all[i].masks)) + " strides " + std::to_string(all[i].strides) +
                " seed " + std::to_string(all[i].seed) + " count " + std::to_string(all[i].count);
  }
}

void compare_all() {
  for (auto* check_type : {&check_all<float>, &check_all<half>, &check_all<int16_t>, &check_all<int32_t>}) {
    std::string wrong;
    KernelReduce::in_kernel([&] { check_type(&wrong); });
    EXPECT_EQ(wrong, "");
  }
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelReduce, MatchesLoopsOverElements) { kFamily.run(); }

// The values are equal, their bits are not.
TEST_F(KernelReduce, GivesTheFirstOfTheZerosAndOfTheNans) {
  constexpr uint32_t kFirstNan = 0x7fc00123;
  uint32_t largest = 0;
  uint32_t smallest = 0;
  uint32_t nan = 0;
  in_kernel([&] {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 5 * 1024 * sizeof(float));
    const LocalTensor<float> from = buffer.Get<float>();
    const LocalTensor<float> to = from[4096];
    auto* source = reinterpret_cast<float*>(from.GetPhyAddr());
    const auto bits = [&] { return std::bit_cast<uint32_t>(to.GetValue(0)); };
    for (int i = 0; i < 3000; ++i) source[i] = -1.0F;
    source[1500] = -0.0F;
    source[1510] = source[2900] = 0.0F;
    ReduceMax(to, from, to[64], 3000);
    largest = bits();
    for (int i = 0; i < 3000; ++i) source[i] = 1.0F;
    source[1500] = 0.0F;
    source[1510] = source[2900] = -0.0F;
    ReduceMin(to, from, to[64], 3000);
    smallest = bits();
    source[2000] = std::bit_cast<float>(kFirstNan);
    source[2001] = source[2900] = std::bit_cast<float>(kFirstNan + 1);
    ReduceMax(to, from, to[64], 3000);
    nan = bits();
  });
  EXPECT_EQ(largest, std::bit_cast<uint32_t>(-0.0F));
  EXPECT_EQ(smallest, 0U);
  EXPECT_EQ(nan, kFirstNan);
}

TEST_F(KernelReduce, HasACaseForEachCell) {
  std::set<Cell> there;
  for (const Case& c : cases()) there.insert({c.op, c.variant, c.masks, c.strides});
  std::set<Cell> wanted;
  for (const Row& row : kRows) {
    for (const Op op : row.ops) {
      for (const Masks masks : row.masks) {
        for (const size_t s : row.strides) wanted.insert({op, row.variant, masks, s});
      }
    }
  }
  EXPECT_TRUE(there == wanted) << there.size() << " cells, not " << wanted.size();
}

// Bits that depend neither on this CPU nor on the width of its vectors.
TEST_F(KernelReduce, TheOrderIsThatOfATree) {
  float sum = 0;
  in_kernel([&] {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 1024);
    LocalTensor<float> x = buffer.Get<float>();
    for (uint32_t i = 0; i < 64; ++i) x.SetValue(i, i == 0 ? 16777216.0F : 1.0F);
    WholeReduceSum<float>(x[64], x, 64, 1, 1, 1, 8);
    sum = x.GetValue(64);
  });
  // The pair (2^24, 1) loses its 1; the other pairs' sums are whole.
  EXPECT_EQ(sum, 16777216.0F + 62.0F);
}

}  // namespace
