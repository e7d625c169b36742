// Convolutions with 1 x 1 filters as matrix products over the images in place (channel by channel). A library's
// convolution would reorder such images and the result.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "opgen/onednn_present.h"
#include "ops/blas/matmul/algorithms.h"
#include "ops/blas/matmul/problem.h"
#include "ops/nn/conv/step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// With fewer positions an image's channel is too short for the matrix product's kernels.
constexpr int64_t kMinPositions = 128;

bool is_all(const Triple& values, int64_t value) {
  return std::ranges::all_of(values, [=](int64_t v) { return v == value; });
}

// Whether each channel's positions are contiguous.
bool has_planes(const Image& image) {
  int64_t next = 1;
  for (size_t i = 3; i-- > 0;) {
    if (image.sizes[i] != 1 && image.strides[i] != next) return false;
    next *= image.sizes[i];
  }
  return image.channels == 1 || image.channel_stride >= next;
}

// [channels, positions], or the transposed matrix: rows are channels if it is the first factor or the result.
GemmOperand matrices_of(const Image& image, bool rows_are_channels) {
  GemmOperand m;
  m.dtype = image.dtype;
  m.data = image.data;
  m.rows = image.channels;
  m.k = image.spatial_size();
  m.row_stride = image.channel_stride;
  m.k_stride = 1;
  if (!rows_are_channels) {
    std::swap(m.rows, m.k);
    std::swap(m.row_stride, m.k_stride);
  }
  m.k_tile = m.k;
  m.batch_strides = {image.batch_stride};
  return m;
}

GemmOperand matrices_of(const Filter& filter, int64_t rows, int64_t row_stride, int64_t k, int64_t k_stride) {
  GemmOperand m;
  m.dtype = filter.dtype;
  m.data = filter.data;
  m.rows = rows;
  m.k = m.k_tile = k;
  m.row_stride = row_stride;
  m.k_stride = k_stride;
  m.batch_strides = {0};
  return m;
}

MatmulProblem problem_of(const ConvProblem& p) {
  MatmulProblem m;
  m.dtype = p.dtype;
  m.allows_less = p.allows_less;
  m.splits = p.splits;
  m.alpha.kind = m.beta.kind = aclScalar::Kind::kSigned;
  m.alpha.integer = m.beta.integer = 1;
  m.batch = {p.batch};
  const int64_t values = p.in.channels * p.in.spatial_size() + p.out.channels * p.out.spatial_size();
  m.at_once = images_at_once(p.batch, values * static_cast<int64_t>(aclDataTypeSize(p.dtype)));
  const Filter& f = p.filter;
  switch (p.kind) {
    case ConvKind::kForward:
      m.a = matrices_of(f, p.out.channels, f.out_stride, p.in.channels, f.in_stride);
      m.b = matrices_of(p.in, false);
      m.c = matrices_of(p.out, true);
      break;
    case ConvKind::kInputGradient:
      m.a = matrices_of(f, p.in.channels, f.in_stride, p.out.channels, f.out_stride);
      m.b = matrices_of(p.out, false);
      m.c = matrices_of(p.in, true);
      break;
    case ConvKind::kFilterGradient:
      m.a = matrices_of(p.out, true);
      m.b = matrices_of(p.in, true);
      m.c = matrices_of(f, p.out.channels, f.out_stride, p.in.channels, f.in_stride);
      break;
  }
  if (p.bias == nullptr) return m;
  m.adds = true;
  m.addend = m.c;
  m.addend.data = const_cast<char*>(p.bias);
  m.addend.row_stride = p.bias_stride;
  m.addend.k_stride = 0;
  m.addend.batch_strides = {0};
  return m;
}

// The filter's gradient is a sum over the images: each product is added to the preceding ones.
std::vector<MatmulProblem> one_by_one(const MatmulProblem& all) {
  std::vector<MatmulProblem> problems;
  for (int64_t i = 0; i < all.batch[0]; ++i) {
    MatmulProblem& m = problems.emplace_back(all);
    m.a.data = m.a.at(i * m.a.batch_strides[0]);
    m.b.data = m.b.at(i * m.b.batch_strides[0]);
    m.adds = i > 0;
    m.addend = m.c;
    m.batch = {};
    for (GemmOperand* side : {&m.a, &m.b, &m.c, &m.addend}) side->batch_strides = {};
  }
  return problems;
}

// Images stay in the caches between kernels with oneDNN, which takes `at_once`.
Plan product_of(const MatmulProblem& problem) {
#if SOFTNPU_HAS_ONEDNN
  return *plan_onednn_matmul(problem);
#else
  return untimed_product(problem);
#endif
}

}  // namespace

Attempt<Step> pointwise_convolution(const ConvProblem& p) {
  if (p.groups != 1 || !is_all(p.filter.sizes, 1)) return Refusal{"the filter is not 1 x 1, or there are groups"};
  if (!is_all(p.stride, 1) || !is_all(p.padding, 0) || p.in.sizes != p.out.sizes) {
    return Refusal{"there is a stride or a padding"};
  }
  if (p.in.is_blocked || p.out.is_blocked) return Refusal{"images are in blocks of channels"};
  // The products run one by one: each must be large enough for all threads.
  const bool is_split = p.kind == ConvKind::kFilterGradient && p.batch > 1;
  constexpr int64_t kMaxProducts = 1 << 16;
  if (is_split && (p.batch > kMaxProducts || p.flops() / static_cast<double>(p.batch) < kSmallWork)) {
    return Refusal{"the batch is large, or its products are small"};
  }
  if (p.dtype != ACL_FLOAT || p.filter.dtype != ACL_FLOAT || (p.bias != nullptr && p.bias_dtype != ACL_FLOAT)) {
    return Refusal{"the data type is not float32"};
  }
  for (const Image* image : {&p.in, &p.out}) {
    if (image->dtype != p.dtype) return Refusal{"the data type is not float32"};
    if (!has_planes(*image)) return Refusal{"a channel's positions are not contiguous"};
    if (image->spatial_size() < kMinPositions) return Refusal{"the images are small"};
  }
  std::vector<MatmulProblem> problems;
  if (p.kind == ConvKind::kFilterGradient) {
    problems = one_by_one(problem_of(p));
  } else {
    problems.push_back(problem_of(p));
    simplify(&problems[0]);
  }
  Step step;
  step.flops = p.flops();
  const auto plans = std::make_shared<std::vector<Plan>>();
  for (const MatmulProblem& problem : problems) {
    plans->push_back(product_of(problem));
    step.workspace_bytes = larger(step.workspace_bytes, plans->back().workspace_bytes);
  }
  if (plans->size() == 1) step.fusible = (*plans)[0].fusible;
  step.run = [plans](char* workspace) {
    for (Plan& plan : *plans) static_cast<void>(plan.run(workspace));
  };
  return step;
}

}  // namespace softnpu
