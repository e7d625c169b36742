// Reductions, compared with loops over elements.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "ascendc/vector_reference.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;
using namespace vector_reference;

class KernelGroups : public KernelTest {};

constexpr uint32_t kElements = 4096;

// Finite values, whose sums have no special cases.
template <typename T>
std::vector<T> finite(uint32_t seed) {
  std::vector<T> created = values<T>(kElements, seed);
  for (T& value : created) {
    if (!std::isfinite(static_cast<float>(value)) || std::fabs(static_cast<float>(value)) > 1000) value = T(0.75);
  }
  return created;
}

// Runs `body(source, other, destination)` on local tensors; `*result` gets the destination.
template <typename T>
void on_local(const std::vector<T>& source, const std::vector<T>& other, std::vector<T>* result,
              const std::function<void(LocalTensor<T>&, LocalTensor<T>&, LocalTensor<T>&)>& body) {
  struct Arguments {
    const std::vector<T>& source;
    const std::vector<T>& other;
    std::vector<T>* result;
    decltype(body) call;
  };
  struct Caller : KernelTest {
    using KernelTest::recent_error;
    using KernelTest::run;
    void TestBody() override {}
  };
  const Arguments arguments{source, other, result, body};
  const auto kernel = [](const Arguments& a) {
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 3 * kElements * sizeof(T));
    LocalTensor<T> from = buffer.Get<T>();
    LocalTensor<T> second = from[kElements];
    LocalTensor<T> to = from[2 * kElements];
    std::copy_n(a.source.begin(), kElements, reinterpret_cast<T*>(from.GetPhyAddr()));
    std::copy_n(a.other.begin(), kElements, reinterpret_cast<T*>(second.GetPhyAddr()));
    std::fill_n(reinterpret_cast<T*>(to.GetPhyAddr()), kElements, T(-7));
    a.call(from, second, to);
    a.result->assign(reinterpret_cast<T*>(to.GetPhyAddr()), reinterpret_cast<T*>(to.GetPhyAddr()) + kElements);
  };
  ASSERT_EQ(Caller::run("local", 1, arguments, kernel), ACL_SUCCESS) << Caller::recent_error();
}

// The bound of a sum: an error of half a last place for each of log2(n) additions, of the sum of the sizes.
double sum_bound(const std::vector<double>& terms, double epsilon) {
  double sizes = 0;
  for (const double term : terms) sizes += std::fabs(term);
  return sizes * epsilon * (std::log2(static_cast<double>(terms.size()) + 1) + 1);
}

template <typename T>
void check_sum_of_count() {
  const double epsilon = std::is_same_v<T, half> ? 0x1p-11 : 0x1p-24;
  for (const int32_t count : {1, 7, 64, 65, 128, 1000, 4096}) {
    const std::vector<T> source = finite<T>(static_cast<uint32_t>(count));
    std::vector<T> got;
    on_local<T>(source, source, &got, [count](auto& from, auto& work, auto& to) { ReduceSum(to, from, work, count); });
    std::vector<double> terms(source.begin(), source.begin() + count);
    double want = 0;
    for (const double term : terms) want += term;
    EXPECT_NEAR(static_cast<double>(got[0]), want, sum_bound(terms, epsilon) + std::fabs(want) * epsilon) << count;
    EXPECT_EQ(static_cast<double>(got[1]), -7) << "behind the result";
  }
}

template <typename T, typename Bits>
void check_extreme_of_count(bool is_max) {
  for (const int32_t count : {1, 9, 64, 300, 4096}) {
    std::vector<T> source = finite<T>(static_cast<uint32_t>(count) + 50);
    if (count == 300) source[77] = T(NAN);
    std::vector<T> got;
    on_local<T>(source, source, &got, [=](auto& from, auto& work, auto& to) {
      is_max ? ReduceMax(to, from, work, count, true) : ReduceMin(to, from, work, count, true);
    });
    int32_t best = 0;
    for (int32_t i = 1; i < count; ++i) {
      const bool nan = source[i] != source[i] && source[best] == source[best];
      if (nan || (is_max ? source[i] > source[best] : source[i] < source[best])) best = i;
    }
    EXPECT_EQ(distance(got[0], source[best]), 0) << count;
    Bits index;
    std::memcpy(&index, &got[1], sizeof(index));
    EXPECT_EQ(index, static_cast<Bits>(best)) << count;
  }
}

TEST_F(KernelGroups, CountsEqualALoopOverElements) {
  check_sum_of_count<float>();
  check_sum_of_count<half>();
  for (const bool is_max : {true, false}) {
    check_extreme_of_count<float, uint32_t>(is_max);
    check_extreme_of_count<half, uint16_t>(is_max);
  }
}

struct Group {
  const char* name;
  uint32_t size;  // elements of one result; 0: of a whole repeat
  bool is_max;
};

// Sums and maxima of parts of a repeat, with masks and strides.
template <typename T>
void check_groups() {
  constexpr uint32_t kLanes = 256 / sizeof(T);
  constexpr uint32_t kBlock = 32 / sizeof(T);
  const double epsilon = std::is_same_v<T, half> ? 0x1p-11 : 0x1p-24;
  const std::vector<T> source = finite<T>(5);
  for (const uint32_t mask : {kLanes, 21U}) {
    for (const int32_t block_stride : {1, 2}) {
      for (const int32_t step : {1, 3}) {
        constexpr int32_t kRepeats = 3;
        constexpr int32_t kRepeatStep = 17;
        const auto check = [&](const char* name, uint32_t size, uint32_t results, bool is_max, auto call) {
          std::vector<T> got;
          on_local<T>(source, source, &got, call);
          for (int32_t r = 0; r < kRepeats; ++r) {
            for (uint32_t g = 0; g < kLanes / size; ++g) {
              std::vector<double> terms;
              for (uint32_t lane = g * size; lane < (g + 1) * size && lane < mask; ++lane) {
                const uint32_t at =
                    (static_cast<uint32_t>(r * kRepeatStep) + lane / kBlock * static_cast<uint32_t>(block_stride)) *
                        kBlock +
                    lane % kBlock;
                terms.push_back(static_cast<double>(source[at]));
              }
              if (terms.empty()) {  // nothing is written
                EXPECT_EQ(static_cast<double>(got[static_cast<uint32_t>(r * step) * results + g]), -7) << name;
                continue;
              }
              double want = is_max ? -INFINITY : 0;
              for (const double term : terms) want = is_max ? std::max(want, term) : want + term;
              const double value = static_cast<double>(got[static_cast<uint32_t>(r * step) * results + g]);
              if (is_max) {
                EXPECT_EQ(value, want) << name << " repeat " << r << " group " << g;
              } else {
                EXPECT_NEAR(value, want, sum_bound(terms, epsilon) + std::fabs(want) * epsilon) << name;
              }
            }
          }
        };
        check("WholeReduceSum", kLanes, 1, false, [=](auto& from, auto&, auto& to) {
          WholeReduceSum(to, from, mask, kRepeats, step, block_stride, kRepeatStep);
        });
        check("WholeReduceMax", kLanes, 1, true, [=](auto& from, auto&, auto& to) {
          WholeReduceMax(to, from, mask, kRepeats, step, block_stride, kRepeatStep, ReduceOrder::ORDER_ONLY_VALUE);
        });
        check("BlockReduceSum", kBlock, 8, false, [=](auto& from, auto&, auto& to) {
          BlockReduceSum(to, from, kRepeats, mask, step, block_stride, kRepeatStep);
        });
        check("BlockReduceMax", kBlock, 8, true, [=](auto& from, auto&, auto& to) {
          BlockReduceMax(to, from, kRepeats, mask, step, block_stride, kRepeatStep);
        });
        check("PairReduceSum", 2, kLanes / 2, false, [=](auto& from, auto&, auto& to) {
          PairReduceSum(to, from, kRepeats, mask, step, block_stride, kRepeatStep);
        });
      }
    }
  }
}

TEST_F(KernelGroups, RepeatsBlocksAndPairsEqualALoopOverElements) {
  check_groups<float>();
  check_groups<half>();
}

}  // namespace
