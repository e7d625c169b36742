// Sort32, Sort, MrgSort, Concat and Extract against sorting by value and place.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelSort : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

template <typename T>
struct Entry {
  T value;
  uint32_t index;
};

// Larger ones first, NaN before all; equal ones stay in their order.
template <typename T>
void sort_entries(std::vector<Entry<T>>* entries, size_t first, size_t count) {
  const auto rank = [](T value) {
    const auto widened = static_cast<float>(value);
    return std::isnan(widened) ? std::pair(1, 0.0F) : std::pair(0, widened);
  };
  const auto begin = entries->begin() + static_cast<ptrdiff_t>(first);
  std::stable_sort(begin, begin + static_cast<ptrdiff_t>(count),
                   [&](const Entry<T>& a, const Entry<T>& b) { return rank(a.value) > rank(b.value); });
}

template <typename T>
struct Areas {
  static constexpr uint32_t kMax = 2048;
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<T> values, records, other, work;
  LocalTensor<uint32_t> indices;
  std::vector<Entry<T>> entries;

  explicit Areas(uint32_t count, uint32_t seed = 2) {
    pipe.InitBuffer(buffer, kMax * (4 + 4 + 3 * 8));
    const LocalTensor<uint32_t> all = buffer.Get<uint32_t>();
    values = all.template ReinterpretCast<T>();
    indices = all[kMax];
    records = all[2 * kMax].template ReinterpretCast<T>();
    other = all[4 * kMax].template ReinterpretCast<T>();
    work = all[6 * kMax].template ReinterpretCast<T>();
    for (uint32_t i = 0; i < count; ++i) {
      values(i) = test_value<T>(i, seed);
      indices(i) = 7 * i + 3;
      entries.push_back({values.GetValue(i), 7 * i + 3});
    }
    wait_for_pipes();
  }

  // What is wrong with `count` records of `tensor` from record `first` on; empty where nothing is.
  static std::string wrong(const LocalTensor<T>& tensor, const std::vector<Entry<T>>& want, size_t first = 0) {
    wait_for_pipes();
    const auto words = tensor.template ReinterpretCast<uint32_t>();
    for (size_t i = 0; i < want.size(); ++i) {
      T value = tensor.GetValue((first + i) * 8 / sizeof(T));
      if (!is_same(value, want[i].value) || words.GetValue((first + i) * 2 + 1) != want[i].index)
        return "record " + std::to_string(i) + " is " + std::to_string(static_cast<float>(value)) + " with index " +
               std::to_string(words.GetValue((first + i) * 2 + 1)) + ", not " +
               std::to_string(static_cast<float>(want[i].value)) + " with " + std::to_string(want[i].index);
    }
    return "";
  }
};

template <typename T>
std::string record(const std::string& found, const char* name, const char* variant) {
  if (found.empty()) cells::record(name, variant, cells::type_name<T>(), false);
  return found;
}

template <typename T>
std::string sorts_each_32() {
  Areas<T> a(5 * 32);
  Sort32(a.records, a.values, a.indices, 5);
  for (size_t i = 0; i < 5; ++i) sort_entries(&a.entries, 32 * i, 32);
  return record<T>(Areas<T>::wrong(a.records, a.entries), "Sort32", "repeats");
}

template <typename T, bool is_full>
std::string sorts() {
  Areas<T> a(7 * 32, 1);  // many ties
  Sort<T, is_full>(a.records, a.values, a.indices, a.work, 7);
  for (size_t i = 0; i < (is_full ? 1 : 7); ++i) sort_entries(&a.entries, 32 * i, is_full ? 7 * 32 : 32);
  return record<T>(Areas<T>::wrong(a.records, a.entries), "Sort", is_full ? "full" : "each");
}

template <typename T>
std::string concatenates() {
  Areas<T> a(4 * 16);
  LocalTensor<T> concat = a.other;
  Concat(concat, a.values, a.work, 4);
  wait_for_pipes();
  for (uint32_t i = 0; i < 4 * 16; ++i) {
    if (!is_same(concat.GetValue(i), a.values.GetValue(i))) return "Concat: element " + std::to_string(i);
  }
  LocalTensor<T> none;
  Concat(none, a.values, a.work, 4);
  return record<T>(none.GetPhyAddr() == a.values.GetPhyAddr() ? "" : "no source", "Concat", "repeats");
}

template <typename T>
std::string extracts() {
  Areas<T> a(3 * 32);
  Sort32(a.records, a.values, a.indices, 3);
  const LocalTensor<uint32_t> indices = a.work.template ReinterpretCast<uint32_t>();
  Extract(a.other, indices, a.records, 3);
  wait_for_pipes();
  for (size_t i = 0; i < 3; ++i) sort_entries(&a.entries, 32 * i, 32);
  for (size_t i = 0; i < a.entries.size(); ++i) {
    if (!is_same(a.other.GetValue(i), a.entries[i].value) || indices.GetValue(i) != a.entries[i].index)
      return "Extract: element " + std::to_string(i);
  }
  return record<T>("", "Extract", "repeats");
}

// 8 queues of 32 become two of 128 in one instruction.
template <typename T>
std::string merges_with_repeats() {
  constexpr uint32_t kRecord = 8 / sizeof(T);
  Areas<T> a(8 * 32);
  Sort32(a.records, a.values, a.indices, 8);
  const uint16_t lengths[4] = {32, 32, 32, 32};
  const MrgSortSrcList<T> queues(a.records, a.records[32 * kRecord], a.records[64 * kRecord], a.records[96 * kRecord]);
  MrgSort<T>(a.other, queues, {lengths, false, 0b1111, 2});
  for (size_t i = 0; i < 8; ++i) sort_entries(&a.entries, 32 * i, 32);
  for (size_t i = 0; i < 2; ++i) sort_entries(&a.entries, 128 * i, 128);
  return record<T>(Areas<T>::wrong(a.other, a.entries), "MrgSort", "repeats");
}

// Ends when one of `queues` queues of other lengths is empty.
template <typename T>
std::string merges_until_one_is_empty(int queues) {
  constexpr uint32_t kRecord = 8 / sizeof(T);
  constexpr uint16_t kLengths[4] = {20, 32, 11, 32};
  Areas<T> a(4 * 32);
  Sort32(a.records, a.values, a.indices, 4);
  for (size_t i = 0; i < 4; ++i) sort_entries(&a.entries, 32 * i, 32);
  MrgSort<T>(a.other, {a.records, a.records[32 * kRecord], a.records[64 * kRecord], a.records[96 * kRecord]},
             {kLengths, true, static_cast<uint16_t>((1 << queues) - 1), 1});
  uint16_t counts[4];
  GetMrgSortResult(counts[0], counts[1], counts[2], counts[3]);
  // All records of the queues in their order; those behind the end of the first queue that ends are left.
  struct Placed {
    Entry<T> entry;
    int queue;
  };
  std::vector<Placed> all;
  for (int q = 0; q < queues; ++q) {
    for (uint16_t i = 0; i < kLengths[q]; ++i) all.push_back({a.entries[static_cast<size_t>(32 * q + i)], q});
  }
  const auto rank = [](const Placed& placed) {
    const auto widened = static_cast<float>(placed.entry.value);
    return std::isnan(widened) ? std::pair(1, 0.0F) : std::pair(0, widened);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Placed& x, const Placed& y) { return rank(x) > rank(y); });
  uint16_t taken[4] = {};
  std::vector<Entry<T>> want;
  for (const Placed& placed : all) {
    want.push_back(placed.entry);
    if (++taken[placed.queue] == kLengths[placed.queue]) break;
  }
  for (int q = 0; q < 4; ++q) {
    if (counts[q] != taken[q])
      return "queue " + std::to_string(q) + ": " + std::to_string(counts[q]) + " records, not " +
             std::to_string(taken[q]);
  }
  return record<T>(Areas<T>::wrong(a.other, want), "MrgSort", "stops");
}

void compare_all() {
  KernelSort::in_kernel([] {
    EXPECT_EQ(sorts_each_32<float>(), "");
    EXPECT_EQ(sorts_each_32<half>(), "");
    EXPECT_EQ((sorts<float, true>()), "");
    EXPECT_EQ((sorts<half, true>()), "");
    EXPECT_EQ((sorts<float, false>()), "");
    EXPECT_EQ((sorts<half, false>()), "");
    EXPECT_EQ(concatenates<float>(), "");
    EXPECT_EQ(concatenates<half>(), "");
    EXPECT_EQ(extracts<float>(), "");
    EXPECT_EQ(extracts<half>(), "");
    EXPECT_EQ(merges_with_repeats<float>(), "");
    EXPECT_EQ(merges_with_repeats<half>(), "");
    for (const int queues : {2, 3, 4}) {
      EXPECT_EQ(merges_until_one_is_empty<float>(queues), "") << queues;
      EXPECT_EQ(merges_until_one_is_empty<half>(queues), "") << queues;
    }
  });
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelSort, MatchesSortingByValueAndPlace) { kFamily.run(); }

TEST_F(KernelSort, TooManyRepeatsAreAnError) {
  const auto kernel = [](const char&) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 1024);
    Sort32(buffer.Get<float>(), buffer.Get<float>(), buffer.Get<uint32_t>(), 256);
  };
  EXPECT_NE(run("sort", 1, char{}, kernel), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("Sort32: repeats are 0 to 255"), std::string::npos) << recent_error();
}

}  // namespace
