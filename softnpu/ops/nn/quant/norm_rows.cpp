#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ops/core/nothing.h"
#include "ops/nn/norm/rows.h"
#include "ops/nn/quant/numbers.h"
#include "ops/nn/quant/operators.h"
#include "ops/nn/quant/row_kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // values per chunk
constexpr double kFlopsPerValue = 40;

template <typename Accessor>
Status open_values(const aclTensor* tensor, const char* role, int64_t count, std::optional<Accessor>* out) {
  if (!is_given(tensor)) return Status::ok();
  if (!is_value(tensor->dtype) || element_count(*tensor) != count) {
    return no_quantization(
        text(role, " is ", describe(*tensor), ", where ", count, " floating-point numbers are needed"));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*tensor, -1, role, &flat));
  out->emplace(std::move(flat));
  return Status::ok();
}

Status open_int8(const aclTensor& tensor, const char* role, int64_t count, FlatWriter<float>* out) {
  if (tensor.dtype != ACL_INT8 || element_count(tensor) != count) {
    return no_quantization(text(role, " is ", describe(tensor), ", where int8 of ", count, " elements is needed"));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  *out = FlatWriter<float>(std::move(flat));
  return Status::ok();
}

// Scales of values, one element or `length`.
Status make_factors(const aclTensor* tensor, const char* role, int64_t length, Numbers* out) {
  SOFTNPU_RETURN_IF_ERROR(out->make(tensor, role));
  if (out->count() <= 1 || out->count() == length) return Status::ok();
  return no_quantization(text(role, " is ", describe(*tensor), ", where 1 or ", length, " elements are needed"));
}

// The rows of x1 + x2 and their norms.
struct NormedRows {
  int64_t rows = 0;
  int64_t length = 1;
  double eps = 0;
  std::optional<FlatReader<float>> x1, x2;
  Numbers gamma, beta;
  std::optional<FlatWriter<float>> sum, norm;

  Status make(const NormQuant& o) {
    length = element_count(o.gamma);
    const size_t over = o.gamma.dims.size();
    const bool fits = over > 0 && over <= o.x1.dims.size() &&
                      std::equal(o.gamma.dims.begin(), o.gamma.dims.end(), o.x1.dims.end() - over);
    if (!is_value(o.x1.dtype) || !fits) {
      return no_quantization(text("gamma is ", describe(o.gamma), " where x1 is ", describe(o.x1),
                                  ": it has the last dimensions of floating-point rows"));
    }
    if (o.x2 != nullptr && !std::ranges::equal(o.x1.dims, o.x2->dims)) {
      return no_quantization(text("x1 is ", describe(o.x1), " and x2 is ", describe(*o.x2), ": they have one shape"));
    }
    const int64_t count = element_count(o.x1);
    rows = length == 0 ? 0 : count / length;
    eps = o.eps;
    SOFTNPU_RETURN_IF_ERROR(open_values(&o.x1, "x1", count, &x1));
    SOFTNPU_RETURN_IF_ERROR(open_values(o.x2, "x2", count, &x2));
    SOFTNPU_RETURN_IF_ERROR(open_values(o.sum, "the sum", count, &sum));
    SOFTNPU_RETURN_IF_ERROR(open_values(o.norm, "the norm", count, &norm));
    SOFTNPU_RETURN_IF_ERROR(make_factors(&o.gamma, "gamma", length, &gamma));
    return make_factors(o.beta, "beta", length, &beta);
  }

  // Calls body(row, y, buffer): y are the norms of the row; both have `length` values that body may change.
  template <typename Body>
  void for_rows(const Body& body) const {
    const std::vector<float> weight = gamma.spread(length, 1);
    const std::vector<float> bias = beta.spread(length, 0);
    const bool has_bias = beta.count() > 0;
    const auto n = static_cast<size_t>(length);
    const double flops = kFlopsPerValue * static_cast<double>(rows) * static_cast<double>(length);
    parallel_for(rows, std::max<int64_t>(1, kGrain / length), threads_for(flops), [&](int64_t first, int64_t last) {
      std::vector<float> y(n), buffer(n);
      for (int64_t row = first; row < last; ++row) {
        const int64_t at = row * length;
        const float* v = x1->read(at, length, y.data());
        if (x2) {
          kernel_.add(v, x2->read(at, length, buffer.data()), n, y.data());
          v = y.data();
        }
        if (sum) sum->put(at, length, v);
        const double scale = 1 / std::sqrt(kernel_.squares(v, n) / static_cast<double>(length) + eps);
        kernel_.normalize(v, n, 0, static_cast<float>(scale), weight.data(), has_bias ? bias.data() : nullptr,
                          y.data());
        if (norm) norm->put(at, length, y.data());
        body(row, y.data(), buffer.data());
      }
    });
  }

 private:
  NormRows<float> kernel_ = norm_rows<float>();
};

void write_zeros(const FlatWriter<float>& to, int64_t count) {
  constexpr int64_t kTile = 1024;
  constexpr std::array<float, kTile> kZeros = {};
  for (int64_t at = 0; at < count; at += kTile) to.put(at, std::min(kTile, count - at), kZeros.data());
}

template <typename Task>
Status finish(std::shared_ptr<Task> task, const aclTensor& x, Plan* plan) {
  plan->work = kFlopsPerValue * static_cast<double>(task->rows.rows) * static_cast<double>(task->rows.length);
  plan->describe = describe_later({&x});
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    task->run();
    return Status::ok();
  };
  return Status::ok();
}

struct StaticNormTask {
  struct Branch {
    FlatWriter<float> y;
    Numbers scale, offset;
  };
  NormedRows rows;
  bool divides = true;
  std::vector<Branch> branches;
  std::vector<FlatWriter<float>> zeros;

  void run() const {
    struct Factors {
      std::vector<float> scale, offset;
    };
    std::vector<Factors> all;
    all.reserve(branches.size());
    for (const Branch& branch : branches) {
      all.push_back({branch.scale.spread(rows.length, 1), branch.offset.spread(rows.length, 0)});
    }
    const auto to_int8 = divides ? kernels_.quotient : kernels_.scale;
    rows.for_rows([&](int64_t row, float* y, float* buffer) {
      for (size_t i = 0; i < branches.size(); ++i) {
        to_int8(y, all[i].scale.data(), all[i].offset.data(), static_cast<size_t>(rows.length), buffer);
        branches[i].y.put(row * rows.length, rows.length, buffer);
      }
    });
    for (const FlatWriter<float>& all : zeros) write_zeros(all, rows.rows * rows.length);
  }

 private:
  QuantRowKernels kernels_ = quant_row_kernels();
};

struct DynamicNormTask {
  struct Branch {
    FlatWriter<float> y, scale;
    Numbers smooth;
  };
  struct Zeros {
    FlatWriter<float> values;
    int64_t count;
  };
  NormedRows rows;
  std::vector<Branch> branches;
  std::vector<Zeros> zeros;

  void run() const {
    std::vector<std::vector<float>> factors;
    factors.reserve(branches.size());
    for (const Branch& branch : branches) factors.push_back(branch.smooth.spread(rows.length, 1));
    rows.for_rows([&](int64_t row, float* y, float* buffer) {
      for (size_t i = 0; i < branches.size(); ++i) {
        const float* values = y;
        if (branches[i].smooth.count() > 0) {
          for (int64_t j = 0; j < rows.length; ++j) buffer[j] = y[j] * factors[i][static_cast<size_t>(j)];
          values = buffer;
        }
        const auto count = static_cast<size_t>(rows.length);
        const auto [least, most] = kernels_.range(values, count);
        const float found = std::max(most, -least) / 127;
        const float scale = found > 0 ? found : 1;
        branches[i].scale.put(row, 1, &scale);
        kernels_.divide(values, count, scale, 0, buffer);
        branches[i].y.put(row * rows.length, rows.length, buffer);
      }
    });
    for (const Zeros& all : zeros) write_zeros(all.values, all.count);
  }

 private:
  QuantRowKernels kernels_ = quant_row_kernels();
};

}  // namespace

Status norm_quant(const NormQuant& operands, bool divides, int64_t axis, const std::array<NormBranch, 2>& branches,
                  Plan* plan) {
  if (axis != -1) return no_quantization(text("axis is ", axis, ": it is -1"));
  auto task = std::make_shared<StaticNormTask>();
  SOFTNPU_RETURN_IF_ERROR(task->rows.make(operands));
  task->divides = divides;
  const int64_t length = task->rows.length, count = task->rows.rows * length;
  for (size_t i = 0; i < branches.size(); ++i) {
    const NormBranch& branch = branches[i];
    if (!is_given(branch.scale)) {
      if (i == 0 && length > 0) {
        return no_quantization(text("the first scale has no elements, where 1 or ", length, " are needed"));
      }
      if (is_given(branch.y)) SOFTNPU_RETURN_IF_ERROR(open_int8(*branch.y, "y2", count, &task->zeros.emplace_back()));
      continue;
    }
    if (branch.y == nullptr) return no_quantization("a result is null that has scales");
    StaticNormTask::Branch& own = task->branches.emplace_back();
    SOFTNPU_RETURN_IF_ERROR(open_int8(*branch.y, "the result", count, &own.y));
    SOFTNPU_RETURN_IF_ERROR(make_factors(branch.scale, "the scale", length, &own.scale));
    SOFTNPU_RETURN_IF_ERROR(make_factors(branch.offset, "the offset", length, &own.offset));
  }
  if (count == 0) return plan_nothing(plan);
  return finish(std::move(task), operands.x1, plan);
}

Status norm_dynamic_quant(const NormQuant& operands, const aclBoolArray* mask,
                          const std::array<DynamicNormBranch, 2>& branches, Plan* plan) {
  auto task = std::make_shared<DynamicNormTask>();
  SOFTNPU_RETURN_IF_ERROR(task->rows.make(operands));
  const bool has_mask = mask != nullptr && mask->size() > 0;
  if (has_mask && mask->size() != branches.size()) {
    return no_quantization(text("outputMask has ", mask->size(), " elements; 2 are needed"));
  }
  const int64_t rows = task->rows.rows, count = rows * task->rows.length;
  const bool has_both = is_given(branches[0].smooth) && is_given(branches[1].smooth);
  for (size_t i = 0; i < branches.size(); ++i) {
    const DynamicNormBranch& branch = branches[i];
    if (has_mask ? (*mask)[i] : i == 0 || has_both) {
      DynamicNormTask::Branch& own = task->branches.emplace_back();
      SOFTNPU_RETURN_IF_ERROR(open_int8(branch.y, "the result", count, &own.y));
      SOFTNPU_RETURN_IF_ERROR(open_scale(branch.scale, "the scale", rows, &own.scale));
      SOFTNPU_RETURN_IF_ERROR(make_factors(branch.smooth, "the smooth scale", task->rows.length, &own.smooth));
      continue;
    }
    const int64_t values = element_count(branch.y), scales = element_count(branch.scale);
    SOFTNPU_RETURN_IF_ERROR(
        open_int8(branch.y, "the result", values,
                  &task->zeros.emplace_back(DynamicNormTask::Zeros{FlatWriter<float>(), values}).values));
    SOFTNPU_RETURN_IF_ERROR(
        open_scale(branch.scale, "the scale", scales,
                   &task->zeros.emplace_back(DynamicNormTask::Zeros{FlatWriter<float>(), scales}).values));
  }
  if (count == 0) return plan_nothing(plan);
  return finish(std::move(task), operands.x1, plan);
}

}  // namespace softnpu
