#include "ops/blas/matmul/direct.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "ops/blas/matmul/direct_kernels.h"
#include "ops/core/convert/rows.h"
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
  if (p.dtype == ACL_FLOAT && is_dense(p.b.row_stride, p.b.rows) && flops <= (few ? kFewRowsFlops : kTinyFlops))
    return Shape{work, false};
  return std::nullopt;
}

// The addresses of the result, both factors, the addend.
using Addresses = std::array<void*, 4>;

class Product {
 public:
  Product(const MatmulProblem& problem, Shape shape)
      : p_(problem),
        kernel_(shape.along_k ? direct_kernels(p_.b.dtype).along_k : direct_kernels(p_.b.dtype).along_columns),
        b_column_(shape.along_k ? p_.b.row_stride : 1),
        b_stride_(shape.along_k ? p_.b.row_stride : p_.b.k_stride),
        alpha_(static_cast<float>(p_.alpha.as_double())),
        beta_(p_.adds ? static_cast<float>(p_.beta.as_double()) : 0),
        work_(shape.work),
        load_addend_(load_row(p_.adds ? p_.addend.dtype : ACL_FLOAT)),
        store_c_(store_row(p_.c.dtype)),
        c_bytes_(static_cast<ptrdiff_t>(aclDataTypeSize(p_.c.dtype))) {}

  double work() const { return work_; }
  // Limited by the calling thread, which plans.
  int threads() const { return work_ < kMinParallelWork ? 1 : most_threads(); }
  Addresses addresses() const { return {p_.c.data, p_.a.data, p_.b.data, p_.addend.data}; }
  size_t operand_count() const { return p_.adds ? 4 : 3; }

  Status run(const Addresses& at, int threads) const {
    const int64_t bands = (p_.a.rows + kRows - 1) / kRows;
    const int64_t tiles = (p_.b.rows + kColumns - 1) / kColumns;
    const std::vector<float> widened = widened_rows(at[1]);
    const int64_t grain = std::max<int64_t>(1, kGrain / (kColumns * p_.a.k));
    parallel_for(p_.batch_count() * tiles * bands, grain, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t location = i / bands;
        tile(at, widened.data(), location / tiles, (i - location * bands) * kRows, location % tiles * kColumns);
      }
    });
    return Status::ok();
  }

 private:
  // The address of an element in matrix `index` of the stack at `location`.
  char* element(void* location, const GemmOperand& m, int64_t index, int64_t offset) const {
    const int64_t elements = batch_offset(p_.batch, m.batch_strides, index) + offset;
    return static_cast<char*>(location) + elements * static_cast<int64_t>(aclDataTypeSize(m.dtype));
  }

  // All rows of the first factor, one behind another, in float32; nothing if they are float32 already.
  std::vector<float> widened_rows(void* a) const {
    if (p_.a.dtype == ACL_FLOAT) return {};
    std::vector<float> widened(static_cast<size_t>(p_.batch_count() * p_.a.rows * p_.a.k));
    const LoadRow load = load_row(p_.a.dtype);
    const auto step = p_.a.k_stride * static_cast<ptrdiff_t>(aclDataTypeSize(p_.a.dtype));
    float* to = widened.data();
    for (int64_t index = 0; index < p_.batch_count(); ++index) {
      for (int64_t row = 0; row < p_.a.rows; ++row, to += p_.a.k) {
        load(element(a, p_.a, index, row * p_.a.row_stride), step, static_cast<size_t>(p_.a.k), to);
      }
    }
    return widened;
  }

  DirectTile tile_of(const Addresses& at, const float* widened, int64_t index, int64_t row, int64_t column) const {
    DirectTile tile{};
    if (p_.a.dtype == ACL_FLOAT) {
      tile.a = reinterpret_cast<const float*>(element(at[1], p_.a, index, row * p_.a.row_stride));
      tile.a_row_stride = p_.a.row_stride;
      tile.a_k_stride = p_.a.k_stride;
    } else {
      tile.a = widened + (index * p_.a.rows + row) * p_.a.k;
      tile.a_row_stride = p_.a.k;
      tile.a_k_stride = 1;
    }
    tile.rows = static_cast<size_t>(std::min(kRows, p_.a.rows - row));
    tile.b = element(at[2], p_.b, index, column * b_column_);
    tile.b_stride = b_stride_;
    tile.columns = static_cast<size_t>(std::min(kColumns, p_.b.rows - column));
    tile.k = static_cast<size_t>(p_.a.k);
    return tile;
  }

  void tile(const Addresses& at, const float* widened, int64_t index, int64_t row, int64_t column) const {
    alignas(64) std::array<float, kDirectRows * kDirectColumns> sums;
    const DirectTile tile = tile_of(at, widened, index, row, column);
    kernel_(tile, sums.data());
    for (size_t i = 0; i < tile.rows; ++i) {
      float* values = sums.data() + i * kDirectColumns;
      const int64_t at_row = row + static_cast<int64_t>(i);
      const auto of = [&](void* location, const GemmOperand& m) {
        return element(location, m, index, at_row * m.row_stride + column * m.k_stride);
      };
      scale_and_add(tile.columns, p_.adds ? of(at[3], p_.addend) : nullptr, values);
      store_c_(values, tile.columns, of(at[0], p_.c), p_.c.k_stride * c_bytes_);
    }
  }

  void scale_and_add(size_t columns, const char* addend, float* values) const {
    if (addend == nullptr) {
      for (size_t j = 0; j < columns; ++j) values[j] *= alpha_;
      return;
    }
    std::array<float, kDirectColumns> added;
    const auto step = p_.addend.k_stride * static_cast<ptrdiff_t>(aclDataTypeSize(p_.addend.dtype));
    load_addend_(addend, step, columns, added.data());
    for (size_t j = 0; j < columns; ++j) values[j] = alpha_ * values[j] + beta_ * added[j];
  }

  const MatmulProblem p_;
  void (*const kernel_)(const DirectTile&, float*);
  const int64_t b_column_;
  const int64_t b_stride_;
  const float alpha_;
  const float beta_;
  const double work_;
  const LoadRow load_addend_;
  const StoreRow store_c_;
  const ptrdiff_t c_bytes_;
};

// Whether the factors have the product's type, and the others that or float32.
bool has_types(const MatmulProblem& p) {
  const auto fits = [&](const GemmOperand& m) { return m.dtype == p.dtype || m.dtype == ACL_FLOAT; };
  const bool is_known = p.dtype == ACL_FLOAT || is_half(p.dtype);
  return is_known && p.a.dtype == p.dtype && p.b.dtype == p.dtype && fits(p.c) && (!p.adds || fits(p.addend));
}

}  // namespace

Attempt<Plan> plan_direct_matmul(const MatmulProblem& problem) {
  if (problem.splits) return Refusal{"the product is split"};
  if (!has_types(problem)) return Refusal{"the data types differ, or are others than float32, float16 and bfloat16"};
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
