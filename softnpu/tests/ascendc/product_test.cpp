// The objects of the cube against products in double.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "ascendc/matrix_reference.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
#include "tiling/tiling_api.h"

namespace {

using namespace AscendC;

class KernelProduct : public KernelTest {
 public:
  using AclTest::recent_error;
  using KernelTest::kernel_address;
  using KernelTest::on_device;
  using KernelTest::on_host;
  using KernelTest::run;
};

template <typename T>
using FactorA = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;
template <typename T>
using FactorB = MatmulType<TPosition::GM, CubeFormat::ND, T, true>;

template <typename T>
struct Arguments {
  T* a;
  T* b;
  void* c;
  TCubeTiling tiling;
  bool transposes_a, transposes_b, adds;
};

TCubeTiling tiling_of(const uint32_t m, const uint32_t n, const uint32_t k, const uint32_t m_of_a,
                      const uint32_t n_of_c, const uint32_t k_of_a, const uint32_t k_of_b) {
  TCubeTiling tiling;
  tiling.M = static_cast<int32_t>(m_of_a);
  tiling.N = static_cast<int32_t>(n_of_c);
  tiling.Ka = static_cast<int32_t>(k_of_a);
  tiling.Kb = static_cast<int32_t>(k_of_b);
  tiling.singleCoreM = static_cast<int32_t>(m);
  tiling.singleCoreN = static_cast<int32_t>(n);
  tiling.singleCoreK = static_cast<int32_t>(k);
  tiling.baseM = tiling.baseN = 32;
  return tiling;
}

struct Sizes {
  uint32_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {16, 16, 16}, {5, 70, 33}, {40, 17, 300}, {130, 90, 64}};

template <typename T, typename R>
void multiply_all(bool transposes_a, bool transposes_b, bool adds) {
  for (const auto& [m, n, k] : kSizes) {
    SCOPED_TRACE(std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k));
    const TestMatrix<T> a(m, k, 1, transposes_a, 4);
    const TestMatrix<T> b(k, n, 2, transposes_b, transposes_b ? 2 : 0);
    const R kBefore = static_cast<R>(adds ? 3 : 9);
    Arguments<T> arguments;
    R* c = KernelProduct::on_device(std::vector<R>(size_t{m} * n, kBefore));
    arguments.a = KernelProduct::kernel_address(KernelProduct::on_device(a.values));
    arguments.b = KernelProduct::kernel_address(KernelProduct::on_device(b.values));
    arguments.c = KernelProduct::kernel_address(c);
    arguments.tiling =
        tiling_of(m, n, k, transposes_a ? a.stride : m, n, transposes_a ? k : a.stride, transposes_b ? b.stride : k);
    arguments.transposes_a = transposes_a;
    arguments.transposes_b = transposes_b;
    arguments.adds = adds;
    const auto kernel = [](const Arguments<T>& p) {
      TPipe pipe;
      Matmul<FactorA<T>, FactorB<T>, MatmulType<TPosition::GM, CubeFormat::ND, R>> product;
      REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &p.tiling);
      if (GetBlockIdx() != 0) return;
      GlobalTensor<T> left, right;
      GlobalTensor<R> result;
      left.SetGlobalBuffer(p.a);
      right.SetGlobalBuffer(p.b);
      result.SetGlobalBuffer(static_cast<R*>(p.c));
      product.SetTensorA(left, p.transposes_a);
      product.SetTensorB(right, p.transposes_b);
      product.template IterateAll<false>(result, p.adds ? 1 : 0, false, true);
      product.WaitIterateAll();
      product.End();
    };
    ASSERT_EQ(KernelProduct::run("product", 1, arguments, kernel), ACL_SUCCESS) << KernelProduct::recent_error();
    const std::vector<R> found = KernelProduct::on_host(c, size_t{m} * n);
    for (uint32_t i = 0; i < m; ++i) {
      for (uint32_t j = 0; j < n; ++j) {
        const double before = adds ? static_cast<double>(kBefore) : 0;
        ASSERT_EQ(wrong_element(a, b, i, j, found[size_t{i} * n + j], before), "");
      }
    }
  }
}

TEST_F(KernelProduct, MatchesDouble) {
  for (const bool transposes_a : {false, true}) {
    for (const bool transposes_b : {false, true}) {
      multiply_all<float, float>(transposes_a, transposes_b, false);
      multiply_all<half, float>(transposes_a, transposes_b, false);
      multiply_all<half, half>(transposes_a, transposes_b, false);
      multiply_all<bfloat16_t, float>(transposes_a, transposes_b, false);
      multiply_all<bfloat16_t, bfloat16_t>(transposes_a, transposes_b, false);
      multiply_all<int8_t, int32_t>(transposes_a, transposes_b, false);
    }
  }
}

TEST_F(KernelProduct, AddsToWhatIsThere) {
  multiply_all<float, float>(false, true, true);
  multiply_all<half, half>(false, false, true);
  multiply_all<int8_t, int32_t>(false, false, true);
}

struct TileArguments {
  half* a;
  half* b;
  float* c;
  TCubeTiling tiling;
};

// Tiles come in rows of baseN elements, those of the first rows first.
TEST_F(KernelProduct, TilesGoToLocalMemoryInTurn) {
  constexpr uint32_t m = 50, n = 70, k = 40;
  const TestMatrix<half> a(m, k, 1);
  const TestMatrix<half> b(k, n, 2);
  float* c = on_device(std::vector<float>(6 * 32 * 32, 0));
  const TileArguments arguments{kernel_address(on_device(a.values)), kernel_address(on_device(b.values)),
                                kernel_address(c), tiling_of(m, n, k, m, n, k, k)};
  const auto kernel = [](const TileArguments& p) {
    TPipe pipe;
    Matmul<FactorA<half>, FactorB<half>, MatmulType<TPosition::VECIN, CubeFormat::ND, float>> product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &p.tiling);
    if (GetBlockIdx() != 0) return;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 32 * 32 * sizeof(float));
    GlobalTensor<half> left, right;
    GlobalTensor<float> result;
    left.SetGlobalBuffer(p.a);
    right.SetGlobalBuffer(p.b);
    result.SetGlobalBuffer(p.c);
    product.SetTensorA(left);
    product.SetTensorB(right);
    product.Iterate<false>();
    for (int32_t tile = 0; tile < 6; ++tile) {
      LocalTensor<float> local = queue.AllocTensor<float>();
      Duplicate(local, 0.0F, 32 * 32);
      product.GetTensorC<false>(local);
      product.WaitGetTensorC();
      queue.EnQue(local);
      local = queue.DeQue<float>();
      DataCopy(result[tile * 32 * 32], local, 32 * 32);
      queue.FreeTensor(local);
      PipeBarrier<PIPE_ALL>();  // the queue's flags are those of copies
    }
    product.End();
  };
  ASSERT_EQ(run("tiles", 1, arguments, kernel), ACL_SUCCESS) << recent_error();
  const std::vector<float> found = on_host(c, 6 * 32 * 32);
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      const size_t tile = i / 32 * 3 + j / 32;
      ASSERT_EQ(wrong_element(a, b, i, j, found[tile * 32 * 32 + i % 32 * 32 + j % 32]), "");
    }
  }
}

TEST_F(KernelProduct, HostTilingCutsProducts) {
  using namespace matmul_tiling;
  MultiCoreMatmulTiling cut(*platform_ascendc::PlatformAscendCManager::GetInstance());
  cut.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
  cut.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
  cut.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
  cut.SetDim(24);
  cut.SetShape(1000, 600, 300);
  TCubeTiling tiling;
  ASSERT_EQ(cut.GetTiling(tiling), 0);
  EXPECT_EQ(tiling.M, 1000);
  EXPECT_EQ(tiling.Ka, 300);
  EXPECT_LE(tiling.usedCoreNum, 24);
  const int32_t rows = (1000 + tiling.singleCoreM - 1) / tiling.singleCoreM;
  const int32_t columns = (600 + tiling.singleCoreN - 1) / tiling.singleCoreN;
  EXPECT_EQ(rows * columns, tiling.usedCoreNum);
  EXPECT_LE(tiling.baseM * tiling.baseK * 2, 64 << 10);
  EXPECT_LE(tiling.baseN * tiling.baseK * 2, 64 << 10);
  EXPECT_LE(tiling.baseM * tiling.baseN * 4, 128 << 10);
  cut.SetShape(1000, 0, 300);
  EXPECT_EQ(cut.GetTiling(tiling), -1);
}

// What a kernel with `use` of an object is told.
template <typename Use>
std::string refusal(Use) {
  const TCubeTiling tiling = tiling_of(16, 16, 16, 16, 16, 16, 16);
  const auto kernel = [](const TCubeTiling& cut) {
    TPipe pipe;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>>
        product;
    Use()(&product, &pipe, cut);
  };
  EXPECT_NE(KernelProduct::run("refused", 1, tiling, kernel), ACL_SUCCESS);
  return KernelProduct::recent_error();
}

TEST_F(KernelProduct, RefusesWhatIsMissing) {
  EXPECT_NE(refusal([](auto* product, TPipe*, const TCubeTiling&) {
              product->template IterateAll<true>(GlobalTensor<float>());
            }).find("IterateAll: the object has no tiling: REGIST_MATMUL_OBJ is missing"),
            std::string::npos)
      << recent_error();
  EXPECT_NE(refusal([](auto* product, TPipe* pipe, const TCubeTiling& cut) {
              REGIST_MATMUL_OBJ(pipe, GetSysWorkSpacePtr(), *product, &cut);
              product->template IterateAll<true>(GlobalTensor<float>());
            }).find("IterateAll: A is missing: SetTensorA"),
            std::string::npos)
      << recent_error();
  EXPECT_NE(refusal([](auto* product, TPipe* pipe, const TCubeTiling& cut) {
              REGIST_MATMUL_OBJ(pipe, GetSysWorkSpacePtr(), *product, &cut);
              product->SetTensorA(GlobalTensor<half>(), true);
            }).find("SetTensorA: transposed, which the matrix's MatmulType does not allow"),
            std::string::npos)
      << recent_error();
}

}  // namespace
