// The matrix unit: copies to fractals, Mmad, and back, against products in double.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/matrix_reference.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelMatrix : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

constexpr uint32_t rounded(uint32_t size, uint32_t unit) { return (size + unit - 1) / unit * unit; }

template <typename T>
GlobalTensor<T> global(const PinnedMemory& memory, size_t elements) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(static_cast<T*>(memory.get()), elements);
  return tensor;
}

// Buffers of a product of at most 64 by 64 by 64.
template <typename T, typename R>
struct Unit {
  static constexpr uint32_t kMax = 64 * 64 * 4;
  TPipe pipe;
  TQue<QuePosition::A1, 1> a1;
  TQue<QuePosition::A2, 1> a2;
  TQue<QuePosition::B1, 1> b1;
  TQue<QuePosition::B2, 1> b2;
  TQue<QuePosition::CO1, 1> co1;
  TQue<QuePosition::CO2, 1> co2;

  Unit() {
    pipe.InitBuffer(a1, 1, kMax);
    pipe.InitBuffer(a2, 1, kMax);
    pipe.InitBuffer(b1, 1, kMax);
    pipe.InitBuffer(b2, 1, kMax);
    pipe.InitBuffer(co1, 1, kMax);
    pipe.InitBuffer(co2, 1, kMax);
  }
};

// `rows` by `columns` elements as fractals in L1. `gap`: more rows of each block of columns.
template <typename T, typename Queue>
void to_fractals(Queue* queue, const GlobalTensor<T>& from, uint32_t rows, uint32_t columns, uint32_t stride,
                 uint32_t gap) {
  Nd2NzParams params;
  params.ndNum = 1;
  params.nValue = static_cast<uint16_t>(rounded(rows, 16));  // what LoadData reads has been written
  params.dValue = static_cast<uint16_t>(columns);
  params.srcDValue = static_cast<uint16_t>(stride);
  params.dstNzC0Stride = static_cast<uint16_t>(rounded(rows, 16) + gap);
  params.dstNzNStride = 1;
  LocalTensor<T> local = queue->template AllocTensor<T>();
  DataCopy(local, from, params);
  queue->EnQue(local);
}

// c = a b. b is stored as it is, where its fractals are transposed on their way, or transposed.
template <typename T, typename R>
std::string multiplies(uint32_t m, uint32_t n, uint32_t k, bool transposes, uint32_t gap) {
  constexpr uint32_t kDepth = 32 / sizeof(T);  // columns of a fractal
  constexpr uint32_t kFractal = 512 / sizeof(T);
  const TestMatrix<T> a(m, k, 1, false, 3);
  const TestMatrix<T> b(k, n, 2, !transposes, 5);
  const uint32_t rows = rounded(m, 16), columns = rounded(n, 16), depth = rounded(k, kDepth);
  const size_t a_elements = size_t{rows} * a.stride;
  const size_t b_elements = size_t{rounded(transposes ? k : n, 16)} * b.stride;
  const PinnedMemory a_memory(a_elements * sizeof(T)), b_memory(b_elements * sizeof(T));
  const PinnedMemory c_memory(size_t{rows} * columns * sizeof(R));
  std::memset(a_memory.get(), 0, a_elements * sizeof(T));
  std::memset(b_memory.get(), 0, b_elements * sizeof(T));
  std::memcpy(a_memory.get(), a.values.data(), a.values.size() * sizeof(T));
  std::memcpy(b_memory.get(), b.values.data(), b.values.size() * sizeof(T));
  KernelMatrix::in_kernel([&] {
    Unit<T, R> unit;
    to_fractals(&unit.a1, global<T>(a_memory, a_elements), m, k, a.stride, gap);
    if (transposes)
      to_fractals(&unit.b1, global<T>(b_memory, b_elements), k, n, b.stride, gap);
    else
      to_fractals(&unit.b1, global<T>(b_memory, b_elements), n, k, b.stride, gap);

    LocalTensor<T> a1 = unit.a1.template DeQue<T>();
    LocalTensor<T> a2 = unit.a2.template AllocTensor<T>();
    for (uint32_t i = 0; i < rows / 16; ++i) {
      LoadData2dParams load;
      load.repeatTimes = static_cast<uint8_t>(depth / kDepth);
      load.srcStride = static_cast<uint16_t>((rows + gap) / 16);
      LoadData(a2[i * depth * 16], a1[i * kFractal], load);
    }
    unit.a2.EnQue(a2);
    unit.a1.FreeTensor(a1);

    LocalTensor<T> b1 = unit.b1.template DeQue<T>();
    LocalTensor<T> b2 = unit.b2.template AllocTensor<T>();
    const uint32_t stored_rows = transposes ? rounded(k, 16) + gap : columns + gap;
    for (uint32_t p = 0; p < depth / kDepth; ++p) {
      LoadData2dParams load;
      load.repeatTimes = static_cast<uint8_t>(columns / 16);
      load.srcStride = static_cast<uint16_t>(transposes ? stored_rows / 16 : 1);
      load.ifTranspose = transposes;
      LoadData(b2[p * columns * kDepth], b1[transposes ? p * kFractal : p * stored_rows * kDepth], load);
    }
    unit.b2.EnQue(b2);
    unit.b1.FreeTensor(b1);

    a2 = unit.a2.template DeQue<T>();
    b2 = unit.b2.template DeQue<T>();
    LocalTensor<R> c1 = unit.co1.template AllocTensor<R>();
    Mmad(c1, a2, b2, {static_cast<uint16_t>(m), static_cast<uint16_t>(n), static_cast<uint16_t>(k)});
    unit.co1.EnQue(c1);
    unit.a2.FreeTensor(a2);
    unit.b2.FreeTensor(b2);

    c1 = unit.co1.template DeQue<R>();
    LocalTensor<R> c2 = unit.co2.template AllocTensor<R>();
    DataCopyEnhancedParams enhanced;
    enhanced.blockMode = BlockMode::BLOCK_MODE_MATRIX;
    DataCopy(c2, c1, DataCopyParams(static_cast<uint16_t>(columns / 16), static_cast<uint16_t>(rows / 16), 0, 0),
             enhanced);
    unit.co2.EnQue(c2);
    unit.co1.FreeTensor(c1);
    c2 = unit.co2.template DeQue<R>();
    DataCopy(global<R>(c_memory, size_t{rows} * columns), c2, rows * columns);
    unit.co2.FreeTensor(c2);
  });
  const auto* c = static_cast<const R*>(c_memory.get());
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      const R found = c[size_t{j / 16} * rows * 16 + i * 16 + j % 16];
      if (std::string wrong = wrong_element(a, b, i, j, found); !wrong.empty()) return wrong;
    }
  }
  cells::record("Mmad", "tile", cells::type_names<R, T>(), false);
  cells::record("DataCopy", "matrix", cells::type_name<R>(), false);
  cells::record("DataCopy", "fractals", cells::type_name<T>(), gap > 0);
  cells::record("LoadData", transposes ? "transposed" : "copied", cells::type_name<T>(), false);
  if (!transposes) cells::record("LoadData", "copied", cells::type_name<T>(), true);  // a's fractals are apart
  return "";
}

void compare_all() {
  for (const uint32_t gap : {0U, 16U}) {
    const uint32_t sizes[][3] = {{16, 16, 16}, {32, 48, 32}, {5, 16, 7}, {33, 20, 50}};
    for (const auto& [m, n, k] : sizes) {
      for (const bool transposes : {false, true}) {
        EXPECT_EQ((multiplies<half, float>(m, n, k, transposes, gap)), "") << m << " " << n << " " << k << " " << gap;
        EXPECT_EQ((multiplies<bfloat16_t, float>(m, n, k, transposes, gap)), "") << m << " " << n << " " << k;
      }
      EXPECT_EQ((multiplies<float, float>(m, n, k, false, gap)), "") << m << " " << n << " " << k;
      EXPECT_EQ((multiplies<int8_t, int32_t>(m, n, k, false, gap)), "") << m << " " << n << " " << k;
    }
  }
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelMatrix, MultipliesTilesAsInDouble) { kFamily.run(); }

// Kernels of L1 copy columns of 16 elements by numbers in braces, which Nd2NzParams must not take.
TEST_F(KernelMatrix, NumbersInBracesAreDataCopyParams) {
  const PinnedMemory memory(4 * 64);
  auto* values = static_cast<half*>(memory.get());
  for (int i = 0; i < 128; ++i) values[i] = static_cast<half>(static_cast<float>(i));
  in_kernel([&] {
    TPipe pipe;
    TBuf<TPosition::A1> buffer;
    pipe.InitBuffer(buffer, 128);
    const LocalTensor<half> local = buffer.Get<half>();
    const uint16_t rows = 4;
    DataCopy(local, global<half>(memory, 128)[16], {rows, 1, 1, 0});
    wait_for_pipes();
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(static_cast<float>(local.GetValue(i)), static_cast<float>(i / 16 * 32 + 16 + i % 16));
  });
}

// What a call of the matrix unit with wrong operands is told.
std::string refusal(const std::function<void()>& body) {
  const auto kernel = [](const std::function<void()>* const& call) { (*call)(); };
  struct Access : KernelMatrix {
    using AclTest::recent_error;
    using KernelTest::run;
    void TestBody() override {}
  };
  EXPECT_NE(Access::run("refused", 1, &body, kernel), ACL_SUCCESS);
  return Access::recent_error();
}

TEST_F(KernelMatrix, RefusesOtherPositions) {
  EXPECT_NE(refusal([] {
              TPipe pipe;
              TBuf<TPosition::VECCALC> unified;
              TBuf<TPosition::A2> left;
              pipe.InitBuffer(unified, 1024);
              pipe.InitBuffer(left, 1024);
              LoadData(left.Get<half>(), unified.Get<half>(), LoadData2dParams());
            }).find("LoadData: it copies from A1 to A2, or from B1 to B2"),
            std::string::npos)
      << recent_error();
  EXPECT_NE(refusal([] {
              TPipe pipe;
              TBuf<TPosition::A2> left;
              TBuf<TPosition::CO1> sums;
              pipe.InitBuffer(left, 1024);
              pipe.InitBuffer(sums, 1024);
              Mmad(sums.Get<float>(), left.Get<half>(), left.Get<half>(), {16, 16, 16});
            }).find("Mmad: the operands have to be in CO1, A2 and B2"),
            std::string::npos)
      << recent_error();
}

TEST_F(KernelMatrix, BuffersHaveTheirRealSizes) {
  EXPECT_NE(refusal([] {
              TPipe pipe;
              TQue<QuePosition::B2, 2> right;
              pipe.InitBuffer(right, 2, 48 << 10);
            }).find("exceed the memory's 65536"),
            std::string::npos)
      << recent_error();
}

}  // namespace
