#include "ops/nn/experts/group_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "ops/blas/gemm/gemm.h"
#include "ops/blas/matmul/algorithms.h"
#include "ops/core/convert/element_rows.h"
#include "ops/nn/quant/numbers.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

float activated(float x, GroupActivation activation) {
  constexpr float kFastGeluSlope = 1.702F;
  constexpr float kRootOfTwoByPi = 0.7978845608028654F;
  constexpr float kCubic = 0.044715F;
  switch (activation) {
    case GroupActivation::kNone: return x;
    case GroupActivation::kRelu: return x > 0 || x != x ? x : 0;
    case GroupActivation::kGeluTanh: return 0.5F * x * (1 + std::tanh(kRootOfTwoByPi * (x + kCubic * x * x * x)));
    case GroupActivation::kFastGelu: return x * sigmoid(kFastGeluSlope * x);
    case GroupActivation::kSilu: return x * sigmoid(x);
  }
  return x;
}

// Finishes sums and writes them.
class ResultWriter {
 public:
  ResultWriter(const GroupEpilogue& epilogue, const GroupMatrix& out)
      : epilogue_(epilogue), out_(out), writer_(ACL_FLOAT, out.dtype) {}

  template <typename Sum>
  void put(const Sum* sums, int64_t row, int64_t column, int64_t count) const {
    constexpr int64_t kAtATime = 256;
    const auto step = out_.column_stride * static_cast<ptrdiff_t>(aclDataTypeSize(out_.dtype));
    std::array<float, kAtATime> result;
    for (int64_t done = 0; done < count; done += kAtATime) {
      const int64_t here = std::min(kAtATime, count - done);
      for (int64_t j = 0; j < here; ++j)
        result[static_cast<size_t>(j)] = finished(sums[done + j], row, column + done + j);
      writer_.write(result.data(), static_cast<size_t>(here), out_.at(row, column + done), step);
    }
  }

 private:
  template <typename Sum>
  float finished(Sum sum, int64_t row, int64_t column) const {
    const auto j = static_cast<size_t>(column);
    if constexpr (std::is_same_v<Sum, int32_t>) {
      if (!epilogue_.whole.empty()) {
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(epilogue_.whole[j]));
      }
    }
    auto value = static_cast<float>(sum);
    if (!epilogue_.column.empty()) value *= epilogue_.column[j];
    if (!epilogue_.row.empty()) value *= epilogue_.row[static_cast<size_t>(row)];
    if (!epilogue_.bias.empty()) value += epilogue_.bias[j];
    value = activated(value, epilogue_.activation);
    return out_.dtype == ACL_INT8 ? to_int8(value) : value;
  }

  const GroupEpilogue& epilogue_;
  const GroupMatrix& out_;
  ElementWriter writer_;
};

template <typename Sum>
class ResultSink final : public GemmSink {
 public:
  explicit ResultSink(const ResultWriter& writer) : writer_(writer) {}
  void store(int64_t /*batch*/, int64_t i, int64_t j, int64_t count, void* sums) const override {
    writer_.put(static_cast<const Sum*>(sums), i, j, count);
  }

 private:
  const ResultWriter& writer_;
};

// int8 values of a factor, whose columns are those of the sum's index for a left one.
class Int8Factor final : public GemmSource {
 public:
  Int8Factor(const GroupMatrix& matrix, bool is_left)
      : data_(matrix.data),
        side_(is_left ? matrix.row_stride : matrix.column_stride),
        sum_(is_left ? matrix.column_stride : matrix.row_stride) {}

  void pack(int64_t /*batch*/, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
            int64_t pitch) const override {
    auto* const values = static_cast<int32_t*>(to);
    for (int64_t d = 0; d < depth; ++d) {
      const auto* const line = reinterpret_cast<const int8_t*>(data_) + (k + d) * sum_ + j * side_;
      for (int64_t i = 0; i < count; ++i) values[d * pitch + i] = line[i * side_];
    }
  }

 private:
  const char* data_;
  int64_t side_, sum_;
};

// Rows of a left factor as float32.
class FloatRows final : public GemmSource {
 public:
  explicit FloatRows(const GroupMatrix& matrix) : matrix_(matrix), reader_(matrix.dtype, ACL_FLOAT) {}

  void pack(int64_t /*batch*/, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
            int64_t pitch) const override {
    const auto step = matrix_.row_stride * static_cast<ptrdiff_t>(aclDataTypeSize(matrix_.dtype));
    auto* const values = static_cast<float*>(to);
    for (int64_t d = 0; d < depth; ++d) {
      reader_.read(matrix_.at(j, k + d), step, static_cast<size_t>(count), values + d * pitch);
    }
  }

 private:
  const GroupMatrix& matrix_;
  ElementReader reader_;
};

class ScaledWeights final : public GemmSource {
 public:
  ScaledWeights(const GroupMatrix& matrix, const GroupWeightScale& scale) : matrix_(matrix), scale_(scale) {}

  void pack(int64_t /*batch*/, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
            int64_t pitch) const override {
    auto* const values = static_cast<float*>(to);
    for (int64_t d = 0; d < depth; ++d) {
      const auto* const line = reinterpret_cast<const int8_t*>(matrix_.at(k + d, j));
      const auto first = static_cast<size_t>((k + d) / scale_.rows_of_scale * matrix_.columns + j);
      for (int64_t i = 0; i < count; ++i) {
        const size_t at = first + static_cast<size_t>(i);
        const float offset = scale_.offset.empty() ? 0 : scale_.offset[at];
        values[d * pitch + i] = (static_cast<float>(line[i * matrix_.column_stride]) + offset) * scale_.scale[at];
      }
    }
  }

 private:
  const GroupMatrix& matrix_;
  const GroupWeightScale& scale_;
};

GemmSizes sizes_of(const GroupMatrix& a, const GroupMatrix& out) { return {1, out.rows, out.columns, a.columns}; }

GemmOperand left_operand(const GroupMatrix& m) {
  GemmOperand operand;
  operand.dtype = m.dtype;
  operand.data = m.data;
  operand.rows = m.rows;
  operand.k = m.columns;
  operand.row_stride = m.row_stride;
  operand.k_stride = m.column_stride;
  operand.k_tile = std::max<int64_t>(1, m.columns);
  return operand;
}

GemmOperand right_operand(const GroupMatrix& m) {
  GroupMatrix turned = m;
  std::swap(turned.rows, turned.columns);
  std::swap(turned.row_stride, turned.column_stride);
  return left_operand(turned);
}

void multiply(const GroupMatrix& a, const GroupMatrix& b, const GroupMatrix& out) {
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  MatmulProblem problem;
  problem.dtype = a.dtype;
  problem.a = left_operand(a);
  problem.b = right_operand(b);
  problem.b_source = b.source;
  problem.c = left_operand(out);
  problem.alpha.kind = aclScalar::Kind::kSigned;
  problem.alpha.integer = 1;
  const Plan plan = untimed_product(problem);
  std::vector<Line> workspace(plan.workspace_bytes.bytes() / sizeof(Line) + 1);
  static_cast<void>(plan.run(workspace.data()));
}

}  // namespace

void float_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupEpilogue& epilogue,
                         const GroupMatrix& out) {
  if (epilogue.is_identity() && (out.dtype == a.dtype || out.dtype == ACL_FLOAT)) return multiply(a, b, out);
  constexpr int64_t kSums = 1 << 22;  // float32 sums that wait for the epilogue
  const int64_t at_once = std::clamp<int64_t>(kSums / std::max<int64_t>(1, out.columns), 1, out.rows);
  std::vector<float> sums(static_cast<size_t>(at_once * out.columns));
  const ResultWriter writer(epilogue, out);
  for (int64_t first = 0; first < out.rows; first += at_once) {
    const int64_t rows = std::min(at_once, out.rows - first);
    multiply(a.row_range(first, rows), b,
             {reinterpret_cast<char*>(sums.data()), ACL_FLOAT, rows, out.columns, out.columns, 1, {}});
    parallel_for(rows, 1, threads_for(8 * static_cast<double>(rows * out.columns)), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) writer.put(sums.data() + i * out.columns, first + i, 0, out.columns);
    });
  }
}

void int8_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupEpilogue& epilogue,
                        const GroupMatrix& out) {
  const GemmSizes sizes = sizes_of(a, out);
  const ResultWriter writer(epilogue, out);
  gemm(ComputeType::kI32, sizes, Int8Factor(a, true), Int8Factor(b, false), ResultSink<int32_t>(writer),
       threads_for(sizes.flops()));
}

void int8_weight_group_product(const GroupMatrix& a, const GroupMatrix& b, const GroupWeightScale& scale,
                               const GroupEpilogue& epilogue, const GroupMatrix& out) {
  const GemmSizes sizes = sizes_of(a, out);
  const ResultWriter writer(epilogue, out);
  gemm(ComputeType::kF32, sizes, FloatRows(a), ScaledWeights(b, scale), ResultSink<float>(writer),
       threads_for(sizes.flops()));
}

void clear_group(const GroupMatrix& out) {
  const std::vector<float> zeros(static_cast<size_t>(out.columns));
  const ElementWriter writer(ACL_FLOAT, out.dtype);
  const auto step = out.column_stride * static_cast<ptrdiff_t>(aclDataTypeSize(out.dtype));
  for (int64_t i = 0; i < out.rows; ++i) writer.write(zeros.data(), zeros.size(), out.at(i, 0), step);
}

}  // namespace softnpu
