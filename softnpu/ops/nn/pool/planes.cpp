// Pooling of small planes by a table (ops/planes).

#include <algorithm>
#include <utility>

#include "ops/core/planes/planes.h"
#include "ops/nn/pool/pool.h"
#include "ops/nn/pool/values.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Entries of a table, at most: building it takes time.
constexpr int64_t kMaxEntries = 1 << 13;

bool has_float_planes(const Image& image, int64_t batch) {
  return image.dtype == ACL_FLOAT && has_dense_planes(image, batch);
}

// Calls body(position, ranges of the window) for each window.
template <typename Body>
void for_windows(const PoolProblem& p, const Body& body) {
  const auto& [planes, rows, columns] = p.windows.ranges;
  for (const Range& z : planes) {
    for (const Range& y : rows) {
      for (const Range& x : columns) body(z, y, x);
    }
  }
}

int64_t values_of(const Windows& w, const Range& z, const Range& y, const Range& x) {
  return length(z, w.step[0]) * length(y, w.step[1]) * length(x, w.step[2]);
}

PlaneTable table_of(const PoolProblem& p) {
  const Windows& w = p.windows;
  PlaneTable table(p.in.spatial_size());
  for_windows(p, [&](const Range& z, const Range& y, const Range& x) {
    for (int64_t i = z.begin; i < z.end; i += w.step[0]) {
      for (int64_t j = y.begin; j < y.end; j += w.step[1]) {
        for (int64_t k = x.begin; k < x.end; k += w.step[2]) table.add((i * p.in.sizes[1] + j) * p.in.sizes[2] + k);
      }
    }
    table.end_row();
  });
  return table;
}

std::vector<float> divisors_of(const PoolProblem& p) {
  std::vector<float> divisors;
  for_windows(p, [&](const Range& z, const Range& y, const Range& x) {
    divisors.push_back(static_cast<float>(divisor_of(p, z, y, x)));
  });
  return divisors;
}

// Gradients of maxima for planes that follow one another.
struct MaxGradient {
  const float* from;
  const int64_t* indices;
  float* to;
  int64_t windows;  // of a plane
  int64_t values;   // of a plane

  // Planes [first, last): a few at a time, which stay in the cache between being cleared and added to.
  void run(int64_t first, int64_t last) const {
    const int64_t at_once = std::max<int64_t>(1, 4096 / values);
    for (int64_t plane = first; plane < last; plane += at_once) {
      const int64_t here = std::min(at_once, last - plane);
      std::fill_n(to + plane * values, here * values, 0.0F);
      for (int64_t i = plane * windows; i < (plane + here) * windows; i += windows) add(i, to + i / windows * values);
    }
  }

 private:
  void add(int64_t first, float* plane) const {
    for (int64_t i = first; i < first + windows; ++i) {
      if (indices[i] >= 0 && indices[i] < values) plane[indices[i]] += from[i];
    }
  }
};

std::optional<Plan> plan_max_gradient(const PoolProblem& p) {
  const bool is_dense = has_float_planes(p.in, p.batch) && has_float_planes(p.out, p.batch) &&
                        p.indices.dtype == ACL_INT64 && has_dense_planes(p.indices, p.batch);
  if (p.indices.data == nullptr || !is_dense) return std::nullopt;
  const int64_t planes = p.batch * p.in.channels;
  const MaxGradient gradient{reinterpret_cast<const float*>(p.out.data),
                             reinterpret_cast<const int64_t*>(p.indices.data), reinterpret_cast<float*>(p.in.data),
                             p.out.spatial_size(), p.in.spatial_size()};
  const int64_t values = gradient.values + 4 * gradient.windows;
  const double flops = 2 * static_cast<double>(planes) * static_cast<double>(values);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / values);
  return Plan{0, flops, [gradient, planes, grain, threads = threads_for(flops)](void*) {
                parallel_for(planes, grain, threads, [&](int64_t first, int64_t last) { gradient.run(first, last); });
                return Status::ok();
              }};
}

}  // namespace

std::optional<Plan> plan_pool_of_planes(const PoolProblem& p, bool backward) {
  if (p.kind == PoolKind::kMax && backward) return plan_max_gradient(p);
  const int64_t planes = p.batch * p.in.channels;
  if (!has_float_planes(p.in, p.batch) || !has_float_planes(p.out, p.batch)) return std::nullopt;
  if (!fits_planes(planes, p.in.spatial_size(), p.out.spatial_size())) return std::nullopt;
  const bool is_max = p.kind == PoolKind::kMax;
  const bool has_indices = p.indices.data != nullptr;
  if (has_indices && (p.indices.dtype != ACL_INT64 || !has_dense_planes(p.indices, p.batch))) return std::nullopt;
  int64_t entries = 0;
  int64_t fewest = kMaxEntries;
  for_windows(p, [&](const Range& z, const Range& y, const Range& x) {
    const int64_t values = values_of(p.windows, z, y, x);
    entries += values;
    fewest = std::min(fewest, values);
  });
  if (entries > kMaxEntries || (is_max && fewest == 0)) return std::nullopt;
  PlanesProblem created{is_max ? PlaneOp::kMax : PlaneOp::kSum, table_of(p)};
  if (!is_max) (backward ? created.source_divisors : created.divisors) = divisors_of(p);
  if (backward) created.table = created.table.transposed();
  const Image& from = backward ? p.out : p.in;
  const Image& to = backward ? p.in : p.out;
  created.planes = planes;
  created.source = reinterpret_cast<const float*>(from.data);
  created.result = reinterpret_cast<float*>(to.data);
  if (has_indices) created.indices = reinterpret_cast<int64_t*>(p.indices.data);
  return plan_planes(std::move(created));
}

}  // namespace softnpu
