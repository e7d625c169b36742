// Matrix products through aclnn's two phases, against float64.

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_baddbmm.h"
#include "aclnnop/aclnn_batch_mat_mul.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "instruction_sets.h"
#include "opgen/onednn_present.h"
#include "softnpu/softnpu.h"

namespace {

using Dims = std::vector<int64_t>;

enum class Arrangement { kDense, kTransposed, kSliced, kBroadcast };  // layout of a matrix

// A float32 tensor in device memory, with a copy of its storage on the host.
class Tensor {
 public:
  Tensor(Dims dims, Arrangement lie, std::mt19937& random) : dims_(std::move(dims)), strides_(dims_.size()) {
    const size_t n = dims_.size();
    int64_t gap = lie == Arrangement::kSliced ? 2 : 1;
    std::vector<size_t> order(n);  // fastest first
    for (size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
    if (lie == Arrangement::kTransposed && n >= 2) std::swap(order[0], order[1]);
    for (size_t i : order) {
      strides_[i] = lie == Arrangement::kBroadcast && i + 2 == n ? 0 : gap;
      if (strides_[i] != 0) gap *= dims_[i] + (lie == Arrangement::kSliced ? 1 : 0);
    }
    offset_ = lie == Arrangement::kSliced ? 3 : 0;
    int64_t last = offset_;
    for (size_t i = 0; i < n; ++i) last += (dims_[i] - 1) * strides_[i];
    host_.resize(static_cast<size_t>(std::max<int64_t>(last + 1, 1)));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : host_) x = uniform(random);
    EXPECT_EQ(aclrtMalloc(&device_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device_, bytes(), host_.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    descriptor_ =
        aclCreateTensor(dims_.data(), n, ACL_FLOAT, strides_.data(), offset_, ACL_FORMAT_ND, dims_.data(), n, device_);
    EXPECT_NE(descriptor_, nullptr);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    aclDestroyTensor(descriptor_);
    aclrtFree(device_);
  }

  aclTensor* get() const { return descriptor_; }
  size_t bytes() const { return host_.size() * sizeof(float); }
  float& at(int64_t b, int64_t r, int64_t c) {
    const size_t n = dims_.size();
    int64_t i = offset_ + c * strides_[n - 1] + (n > 1 ? r * strides_[n - 2] : 0) + (n > 2 ? b * strides_[0] : 0);
    return host_[static_cast<size_t>(i)];
  }
  void download() {
    EXPECT_EQ(aclrtMemcpy(host_.data(), bytes(), device_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  }

 private:
  Dims dims_;
  Dims strides_;
  int64_t offset_ = 0;
  std::vector<float> host_;
  void* device_ = nullptr;
  aclTensor* descriptor_ = nullptr;
};

using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Phase two with its workspace, and the synchronisation.
aclnnStatus finish(Launch launch, uint64_t bytes, aclOpExecutor* executor, aclrtStream stream = nullptr) {
  void* workspace = nullptr;
  if (bytes > 0) {
    EXPECT_EQ(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  aclnnStatus status = launch(workspace, bytes, executor, stream);
  aclError waited = aclrtSynchronizeStream(stream);
  if (workspace != nullptr) aclrtFree(workspace);
  return status != ACLNN_SUCCESS ? status : waited;
}

struct Sizes {
  int64_t b, m, k, n;
};

// A bound for the error of a float32 sum of `terms` products whose absolute values sum to `magnitude`, in any order,
// plus the roundings of alpha, beta and the last addition.
double bound(int64_t terms, double magnitude) {
  return static_cast<double>(terms + 4) * std::numeric_limits<float>::epsilon() * magnitude;
}

void expect_product(Tensor& a, Tensor& b, Tensor& before, Tensor& out, const Sizes& s, double alpha, double beta) {
  for (int64_t i = 0; i < s.b; ++i) {
    for (int64_t r = 0; r < s.m; ++r) {
      for (int64_t c = 0; c < s.n; ++c) {
        double sum = 0;
        double magnitude = 0;
        for (int64_t x = 0; x < s.k; ++x) {
          double term = alpha * a.at(i, r, x) * b.at(i, x, c);
          sum += term;
          magnitude += std::abs(term);
        }
        double addend = beta == 0 ? 0 : beta * before.at(i, r, c);
        ASSERT_NEAR(out.at(i, r, c), sum + addend, bound(s.k, magnitude + std::abs(addend)))
            << "at " << i << "," << r << "," << c << " of " << s.b << "x" << s.m << "x" << s.k << "x" << s.n;
      }
    }
  }
}

class MatmulTest : public AclTest {
 protected:
  // out = beta * addend + alpha * a @ b, then synchronises.
  static void addmm(Tensor& addend, Tensor& a, Tensor& b, double beta, double alpha, Tensor& out) {
    aclScalar* alpha_scalar = aclCreateScalar(&alpha, ACL_DOUBLE);
    aclScalar* beta_scalar = aclCreateScalar(&beta, ACL_DOUBLE);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnAddmmGetWorkspaceSize(addend.get(), a.get(), b.get(), beta_scalar, alpha_scalar, out.get(), 0,
                                         &bytes, &executor),
              ACLNN_SUCCESS)
        << recent_error();
    EXPECT_EQ(aclDestroyScalar(alpha_scalar), ACLNN_SUCCESS);
    EXPECT_EQ(aclDestroyScalar(beta_scalar), ACLNN_SUCCESS);
    ASSERT_EQ(finish(&aclnnAddmm, bytes, executor), ACLNN_SUCCESS) << recent_error();
    out.download();
  }

  std::mt19937 random{7};
};

TEST_F(MatmulTest, EveryLayoutAndSize) {
  const std::vector<Sizes> sizes = {{1, 1, 1, 1},    {1, 3, 5, 7}, {1, 1, 64, 9},   {1, 9, 64, 1},
                                    {1, 33, 17, 65}, {3, 4, 5, 6}, {2, 1, 3, 1},    {1, 0, 4, 3},
                                    {1, 4, 0, 3},    {0, 2, 2, 2}, {1, 96, 80, 72}, {4, 31, 32, 33}};
  const std::vector<Arrangement> lies = {Arrangement::kDense, Arrangement::kTransposed, Arrangement::kSliced,
                                         Arrangement::kBroadcast};
  for (const Sizes& s : sizes) {
    for (Arrangement la : lies) {
      for (Arrangement lb : lies) {
        for (Arrangement lo : {Arrangement::kDense, Arrangement::kTransposed, Arrangement::kSliced}) {
          Tensor a({s.b, s.m, s.k}, la, random);
          Tensor b({s.b, s.k, s.n}, lb, random);
          Tensor out({s.b, s.m, s.n}, lo, random);
          uint64_t bytes = 0;
          aclOpExecutor* executor = nullptr;
          ASSERT_EQ(aclnnBatchMatMulGetWorkspaceSize(a.get(), b.get(), out.get(), 0, &bytes, &executor), ACLNN_SUCCESS)
              << recent_error();
          ASSERT_EQ(finish(&aclnnBatchMatMul, bytes, executor), ACLNN_SUCCESS) << recent_error();
          out.download();
          expect_product(a, b, out, out, s, 1, 0);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(MatmulTest, AddsAScaledAndBroadcastAddend) {
  const Sizes s{1, 12, 20, 28};
  for (Dims dims : {Dims{s.m, s.n}, Dims{s.n}, Dims{1, s.n}, Dims{s.m, 1}, Dims{1}}) {
    for (auto [alpha, beta] : {std::pair{1.0, 1.0}, {1.0, 0.0}, {0.5, 1.0}, {1.0, -2.0}, {-1.5, 0.25}, {0.0, 1.0}}) {
      Tensor a({s.m, s.k}, Arrangement::kDense, random);
      Tensor b({s.k, s.n}, Arrangement::kTransposed, random);
      Tensor addend(dims, Arrangement::kDense, random);
      Tensor widened({s.m, s.n}, Arrangement::kDense, random);
      for (int64_t r = 0; r < s.m; ++r) {
        for (int64_t c = 0; c < s.n; ++c) {
          widened.at(0, r, c) = addend.at(0, dims.size() > 1 && dims[0] > 1 ? r : 0, dims.back() > 1 ? c : 0);
        }
      }
      Tensor out({s.m, s.n}, Arrangement::kDense, random);
      addmm(addend, a, b, beta, alpha, out);
      if (HasFatalFailure()) return;
      expect_product(a, b, widened, out, s, alpha, beta);
      if (HasFatalFailure()) return;
    }
  }
}

// More rows than panels need, sums in one part and in several, full and partial panels.
TEST_F(MatmulTest, ManyRowsWithPackedPanels) {
  for_each_instruction_set([&] {
    for (const Sizes& s : {Sizes{1, 64, 16, 16}, {1, 67, 513, 25}, {1, 66, 1030, 31}}) {
      for (const Arrangement lie : {Arrangement::kDense, Arrangement::kTransposed, Arrangement::kSliced}) {
        for (const Arrangement result : {Arrangement::kDense, Arrangement::kSliced}) {
          Tensor a({s.m, s.k}, Arrangement::kDense, random);
          Tensor b({s.k, s.n}, lie, random);
          Tensor row({s.n}, Arrangement::kDense, random);
          Tensor widened({s.m, s.n}, Arrangement::kDense, random);
          for (int64_t r = 0; r < s.m; ++r) {
            for (int64_t c = 0; c < s.n; ++c) widened.at(0, r, c) = row.at(0, 0, c);
          }
          Tensor out({s.m, s.n}, result, random);
          addmm(row, a, b, 1, 1, out);
          if (HasFatalFailure()) return;
          expect_product(a, b, widened, out, s, 1, 1);
          if (HasFatalFailure()) return;
        }
      }
    }
  });
}

// One cached primitive used by four threads at once: with a shared scratchpad it would crash.
TEST_F(MatmulTest, OneCachedPrimitiveServesManyThreads) {
  const Sizes s{1, 64, 96, 128};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([=] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::mt19937 own(seed);
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      Tensor a({s.m, s.k}, Arrangement::kDense, own);
      Tensor b({s.k, s.n}, Arrangement::kDense, own);
      Tensor out({s.m, s.n}, Arrangement::kDense, own);
      for (int i = 0; i < 20; ++i) {
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_EQ(aclnnMmGetWorkspaceSize(a.get(), b.get(), out.get(), 0, &bytes, &executor), ACLNN_SUCCESS);
        ASSERT_EQ(finish(&aclnnMm, bytes, executor, stream), ACLNN_SUCCESS);
      }
      out.download();
      expect_product(a, b, out, out, s, 1, 0);
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A frequently used second factor is packed if the CPU has a kernel for it.
TEST_F(MatmulTest, PackedWeightsGiveIdenticalResults) {
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);  // panels serve, whatever their time
  uint64_t before = 0;
  ASSERT_EQ(softnpuGetPackedBytes(0, &before), ACL_SUCCESS);
  // oneDNN's kernels for packed weights need AVX-512; with AVX2 panels are used for many rows.
#if SOFTNPU_HAS_ONEDNN
  const bool is_blocked_format = __builtin_cpu_supports("avx512bw") && softnpuGetCpuCapability() == SOFTNPU_CPU_DEFAULT;
  const bool has_panels = !is_blocked_format && __builtin_cpu_supports("avx2");
#else
  const bool is_blocked_format = false;
  const bool has_panels = true;
#endif
  const bool keeps = softnpuKeepsPackedWeights() != 0;
  for (const Arrangement lie : {Arrangement::kDense, Arrangement::kTransposed, Arrangement::kSliced}) {
    for (const Sizes& s : {Sizes{1, 9, 64, 256},
                           {1, 8, 100, 96},
                           {1, 31, 512, 33},
                           {1, 16, 8192, 17},
                           {1, 8, 1376, 512},
                           {1, 128, 384, 1000},
                           {1, 512, 96, 768}}) {
      Tensor a({s.m, s.k}, Arrangement::kDense, random);
      Tensor b({s.k, s.n}, lie, random);
      Tensor first({s.m, s.n}, Arrangement::kDense, random);
      Tensor last({s.m, s.n}, Arrangement::kDense, random);
      uint64_t bytes = 0;
      aclOpExecutor* executor = nullptr;
      for (int i = 0; i < 12; ++i) {
        Tensor& out = i == 0 ? first : last;
        ASSERT_EQ(aclnnMmGetWorkspaceSize(a.get(), b.get(), out.get(), 0, &bytes, &executor), ACLNN_SUCCESS);
        ASSERT_EQ(finish(&aclnnMm, bytes, executor), ACLNN_SUCCESS);
      }
      uint64_t kept = 0;
      ASSERT_EQ(softnpuGetPackedBytes(0, &kept), ACL_SUCCESS);
      const size_t weights = static_cast<size_t>(s.k * s.n) * sizeof(float);
      if (keeps && weights >= (size_t{16} << 10) && (is_blocked_format || (has_panels && s.m >= 64))) {
        EXPECT_GE(kept - before, weights);
      }
      first.download();
      last.download();
      for (int64_t row = 0; row < s.m; ++row) {
        for (int64_t column = 0; column < s.n; ++column) {
          ASSERT_EQ(first.at(0, row, column), last.at(0, row, column)) << s.m << " " << s.k << " " << s.n;
        }
      }
    }
  }
  uint64_t behind = 0;
  ASSERT_EQ(softnpuGetPackedBytes(0, &behind), ACL_SUCCESS);
  EXPECT_EQ(before, behind);  // freed with their originals
}

TEST_F(MatmulTest, AnExecutorServesOneLaunchUnlessRepeatable) {
  Tensor a({4, 4}, Arrangement::kDense, random);
  Tensor out({4, 4}, Arrangement::kDense, random);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMmGetWorkspaceSize(a.get(), a.get(), out.get(), 0, &bytes, &executor), ACLNN_SUCCESS);
  EXPECT_EQ(finish(&aclnnAddmm, bytes, executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("made by aclnnMmGetWorkspaceSize"), std::string::npos);
  EXPECT_EQ(finish(&aclnnMm, bytes, executor), ACLNN_SUCCESS);
  EXPECT_EQ(finish(&aclnnMm, bytes, executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("one executor serves one launch"), std::string::npos);
  ASSERT_EQ(aclnnMmGetWorkspaceSize(a.get(), a.get(), out.get(), 0, &bytes, &executor), ACLNN_SUCCESS);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_SUCCESS);
  EXPECT_EQ(finish(&aclnnMm, bytes, executor), ACLNN_SUCCESS);
  EXPECT_EQ(finish(&aclnnMm, bytes, executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(MatmulTest, BadArgumentsAreStatusesNotCrashes) {
  Tensor a({3, 4}, Arrangement::kDense, random);
  Tensor b({4, 5}, Arrangement::kTransposed, random);
  Tensor out({3, 5}, Arrangement::kSliced, random);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  auto mm = [&](const aclTensor* x, const aclTensor* y, aclTensor* z) {
    return aclnnMmGetWorkspaceSize(x, y, z, 0, &bytes, &executor);
  };
  EXPECT_EQ(mm(nullptr, b.get(), out.get()), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(mm(a.get(), a.get(), out.get()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("do not multiply"), std::string::npos);
  EXPECT_EQ(aclnnMmGetWorkspaceSize(a.get(), b.get(), out.get(), 0, nullptr, &executor), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclnnMmGetWorkspaceSize(a.get(), b.get(), out.get(), 5, &bytes, &executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("cubeMathType 5"), std::string::npos);

  float on_the_host[12] = {};
  Dims dims = {3, 4};
  aclTensor* host = aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(), 2, on_the_host);
  EXPECT_EQ(mm(host, b.get(), out.get()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("memory of the host, copy it first"), std::string::npos);
  aclDestroyTensor(host);
  aclTensor* integers =
      aclCreateTensor(dims.data(), 2, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, dims.data(), 2, on_the_host);
  EXPECT_EQ(mm(integers, b.get(), out.get()), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("float32"), std::string::npos);
  aclDestroyTensor(integers);
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr), nullptr);

  Tensor square({128, 128}, Arrangement::kDense, random);
  // For oneDNN a sliced result goes through a dense copy; without it, the second factor is packed.
  Tensor result({128, 128}, SOFTNPU_HAS_ONEDNN ? Arrangement::kSliced : Arrangement::kDense, random);
  ASSERT_EQ(mm(square.get(), square.get(), result.get()), ACLNN_SUCCESS);
  ASSERT_GT(bytes, 0U);
  EXPECT_EQ(aclnnMm(nullptr, 0, executor, nullptr), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("are needed"), std::string::npos);
}

}  // namespace
