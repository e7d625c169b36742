#include "ops/blas/matmul/direct.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include "base/threads.h"
#include "ops/blas/matmul/direct_kernels.h"
#include "ops/core/operand_run.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr auto kRows = static_cast<int64_t>(kDirectRows);
constexpr auto kColumns = static_cast<int64_t>(kDirectColumns);
// For smaller products the call of oneDNN takes longer than the product.
constexpr double kTinyFlops = 1 << 17;
constexpr double kFewRowsFlops = 1 << 20;
// From here on two threads read the second factor faster than one.
constexpr double kMinParallelWork = 1 << 20;
// Elements of the second factor in the smallest piece for a thread.
constexpr int64_t kGrain = 1 << 14;

struct Shape {
  double work;   // in equivalent operations: few rows are bound by memory
  bool along_k;  // the second factor is contiguous along k, else along its columns
};

// Swaps the factors: c^T = b^T a^T.
MatmulProblem transposed(const MatmulProblem& p) {
  MatmulProblem t = p;
  std::swap(t.a, t.b);
  for (GemmOperand* m : {&t.c, &t.addend}) {
    std::swap(m->rows, m->k);
    std::swap(m->row_stride, m->k_stride);
  }
  return t;
}

bool is_dense(int64_t stride, int64_t size) { return stride == 1 || size == 1; }

// The kernel shape; nothing if these kernels should not be used.
std::optional<Shape> shape_of(const MatmulProblem& p) {
  const double flops = p.flops();
  const bool few = p.a.rows <= kRows;
  const double work = flops * static_cast<double>(kRows) / static_cast<double>(std::min(kRows, p.a.rows));
  if (is_dense(p.a.k_stride, p.a.k) && is_dense(p.b.k_stride, p.b.k) && (few || flops <= kTinyFlops))
    return Shape{work, true};
  if (is_dense(p.b.row_stride, p.b.rows) && flops <= (few ? kFewRowsFlops : kTinyFlops)) return Shape{work, false};
  return std::nullopt;
}

// The addresses of the result, both factors, the addend.
using Addresses = std::array<void*, 4>;

class Product {
 public:
  Product(const MatmulProblem& problem, Shape shape)
      : p_(problem),
        kernel_(shape.along_k ? direct_kernels().along_k : direct_kernels().along_columns),
        b_column_(shape.along_k ? p_.b.row_stride : 1),
        b_stride_(shape.along_k ? p_.b.row_stride : p_.b.k_stride),
        alpha_(static_cast<float>(p_.alpha.as_double())),
        beta_(p_.adds ? static_cast<float>(p_.beta.as_double()) : 0),
        work_(shape.work) {}

  double work() const { return work_; }
  // Limited by the calling thread, which plans.
  int threads() const { return work_ < kMinParallelWork ? 1 : most_threads(); }
  Addresses addresses() const { return {p_.c.data, p_.a.data, p_.b.data, p_.addend.data}; }
  size_t operand_count() const { return p_.adds ? 4 : 3; }

  Status run(const Addresses& at, int threads) const {
    const int64_t bands = (p_.a.rows + kRows - 1) / kRows;
    const int64_t tiles = (p_.b.rows + kColumns - 1) / kColumns;
    const int64_t grain = std::max<int64_t>(1, kGrain / (kColumns * p_.a.k));
    parallel_for(p_.batch_count() * tiles * bands, grain, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t location = i / bands;
        tile(at, location / tiles, (i - location * bands) * kRows, location % tiles * kColumns);
      }
    });
    return Status::ok();
  }

 private:
  // The address of an element in matrix `index` of the stack at `location`.
  float* element(void* location, const GemmOperand& m, int64_t index, int64_t offset) const {
    return static_cast<float*>(location) + batch_offset(p_.batch, m.batch_strides, index) + offset;
  }

  void tile(const Addresses& at, int64_t index, int64_t row, int64_t column) const {
    const auto [c, a, b, added] = at;
    alignas(64) std::array<float, kDirectRows * kDirectColumns> sums;
    const int64_t rows = std::min(kRows, p_.a.rows - row);
    const int64_t columns = std::min(kColumns, p_.b.rows - column);
    kernel_({element(a, p_.a, index, row * p_.a.row_stride), p_.a.row_stride, p_.a.k_stride, static_cast<size_t>(rows),
             element(b, p_.b, index, column * b_column_), b_stride_, static_cast<size_t>(columns),
             static_cast<size_t>(p_.a.k)},
            sums.data());
    const auto of = [&](void* location, const GemmOperand& m) {
      return element(location, m, index, row * m.row_stride + column * m.k_stride);
    };
    float* to = of(c, p_.c);
    const float* addend = p_.adds ? of(added, p_.addend) : nullptr;
    for (int64_t i = 0; i < rows; ++i) {
      const float* sum = sums.data() + i * kColumns;
      for (int64_t j = 0; j < columns; ++j) {
        float value = alpha_ * sum[j];
        if (addend != nullptr) value += beta_ * addend[i * p_.addend.row_stride + j * p_.addend.k_stride];
        to[i * p_.c.row_stride + j * p_.c.k_stride] = value;
      }
    }
  }

  const MatmulProblem p_;
  void (*const kernel_)(const DirectTile&, float*);
  const int64_t b_column_;
  const int64_t b_stride_;
  const float alpha_;
  const float beta_;
  const double work_;
};

bool is_all_float(const MatmulProblem& p) {
  const bool are_operands = p.a.dtype == ACL_FLOAT && p.b.dtype == ACL_FLOAT && p.c.dtype == ACL_FLOAT;
  return p.dtype == ACL_FLOAT && are_operands && (!p.adds || p.addend.dtype == ACL_FLOAT);
}

}  // namespace

Attempt<Plan> plan_direct_matmul(const MatmulProblem& problem) {
  if (problem.splits) return Refusal{"the product is split"};
  if (!is_all_float(problem)) return Refusal{"a data type is not float32"};
  if (problem.a.is_tiled() || problem.b.is_tiled()) return Refusal{"a factor is in blocks"};
  for (const MatmulProblem& p : {problem, transposed(problem)}) {
    const std::optional<Shape> shape = shape_of(p);
    if (!shape.has_value()) continue;
    auto product = std::make_shared<const Product>(p, *shape);
    Plan plan;
    OperandRun<Product, std::tuple_size_v<Addresses>>{product, product->addresses()}.put(&plan);
    plan.describe = [problem] { return describe(problem); };
    return plan;
  }
  return Refusal{"there are many rows, or no factor is contiguous along the sum"};
}

}  // namespace softnpu
