#include "ops/blas/matmul/reference.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

#include "ops/blas/gemm/block.h"
#include "ops/blas/gemm/gemm.h"
#include "ops/core/convert/element_rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

template <typename T>
T value_of(const aclScalar& scalar) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return scalar.as_uint64();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(scalar.as_int64());
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(scalar.as_double());
  } else {
    return static_cast<T>(scalar.as_complex());
  }
}

// A GemmOperand in memory, packed along its contiguous dimension.
class MatrixSource final : public GemmSource {
 public:
  MatrixSource(const Dims& batch, GemmOperand matrices, aclDataType as)
      : batch_(batch),
        m_(std::move(matrices)),
        reader_(m_.dtype, as),
        element_(static_cast<ptrdiff_t>(aclDataTypeSize(m_.dtype))),
        compute_type_(compute_type_of(as)) {}

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    with_compute_type(compute_type_,
                      [&]<typename T>() { pack<T>(batch, k, depth, j, count, static_cast<T*>(to), pitch); });
  }

 private:
  template <typename T>
  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, T* to, int64_t pitch) const {
    const int64_t begin = batch_offset(batch_, m_.batch_strides, batch);
    if (m_.is_tiled() || m_.row_stride <= m_.k_stride) {
      for (int64_t x = 0; x < depth; ++x) {
        const int64_t k_tile = (k + x) / m_.k_tile;
        const int64_t from =
            begin + k_tile * m_.k_tile_stride + (k + x - k_tile * m_.k_tile) * m_.k_stride + j * m_.row_stride;
        reader_.read(m_.at(from), m_.row_stride * element_, static_cast<size_t>(count), to + x * pitch);
      }
      return;
    }
    T column[kGemmDepth];
    for (int64_t y = 0; y < count; ++y) {
      reader_.read(m_.at(begin + (j + y) * m_.row_stride + k * m_.k_stride), m_.k_stride * element_,
                   static_cast<size_t>(depth), column);
      for (int64_t x = 0; x < depth; ++x) to[x * pitch + y] = column[x];
    }
  }

  const Dims& batch_;
  GemmOperand m_;
  ElementReader reader_;
  ptrdiff_t element_;
  ComputeType compute_type_;
};

// Scales the sums, adds the addend and writes the result.
class MatrixSink final : public GemmSink {
 public:
  explicit MatrixSink(const MatmulProblem& problem)
      : p_(problem),
        writer_(problem.dtype, problem.c.dtype),
        reader_(problem.adds ? problem.addend.dtype : problem.dtype, problem.dtype) {}

  void store(int64_t batch, int64_t i, int64_t j, int64_t count, void* sums) const override {
    with_compute_type(compute_type_of(p_.dtype),
                      [&]<typename T>() { finish(batch, i, j, count, static_cast<T*>(sums)); });
    const GemmOperand& c = p_.c;
    const int64_t to = batch_offset(p_.batch, c.batch_strides, batch) + i * c.row_stride + j * c.k_stride;
    writer_.write(sums, static_cast<size_t>(count), c.at(to),
                  c.k_stride * static_cast<ptrdiff_t>(aclDataTypeSize(c.dtype)));
  }

 private:
  template <typename T>
  void finish(int64_t batch, int64_t i, int64_t j, int64_t count, T* sums) const {
    const T alpha = value_of<T>(p_.alpha);
    if (alpha != T(1)) {
      for (int64_t x = 0; x < count; ++x) sums[x] *= alpha;
    }
    if (!p_.adds) return;
    const GemmOperand& m = p_.addend;
    const int64_t from = batch_offset(p_.batch, m.batch_strides, batch) + i * m.row_stride + j * m.k_stride;
    T addend[kGemmColumns];
    reader_.read(m.at(from), m.k_stride * static_cast<ptrdiff_t>(aclDataTypeSize(m.dtype)), static_cast<size_t>(count),
                 addend);
    const T beta = value_of<T>(p_.beta);
    for (int64_t x = 0; x < count; ++x) sums[x] += beta * addend[x];
  }

  const MatmulProblem& p_;
  ElementWriter writer_;
  ElementReader reader_;
};

}  // namespace

Attempt<Plan> plan_reference_matmul(const MatmulProblem& problem) {
  const GemmSizes sizes{problem.batch_count(), problem.c.rows, problem.c.k, problem.a.k};
  const int threads = threads_for(sizes.flops());
  const auto shared = std::make_shared<const MatmulProblem>(problem);
  return Plan{0, sizes.flops(),
              [shared, sizes, threads](void*) {
                const MatmulProblem& p = *shared;
                const MatrixSource a(p.batch, p.a, p.dtype);
                const MatrixSource b(p.batch, p.b, p.dtype);
                gemm(compute_type_of(p.dtype), sizes, a, b, MatrixSink(p), threads);
                return Status::ok();
              },
              [shared] { return describe(*shared); }};
}

}  // namespace softnpu
