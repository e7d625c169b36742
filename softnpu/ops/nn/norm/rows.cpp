#include "ops/nn/norm/rows.h"

#include <cmath>
#include <type_traits>

#include "simd/non_temporal.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/norm/rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/float_sums.h"
#include "simd/widen.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using ComputeType = hn::ScalableTag<double>;

template <typename D, typename T>
HWY_INLINE hn::Vec<D> load_computed(D d, const T* from) {
  return widened(d, hn::LoadU(hn::Rebind<T, D>(), from));
}
template <typename T>
HWY_INLINE hn::Vec<ComputeType> load_computed(const T* from) {
  return load_computed(ComputeType(), from);
}

// Prefetches contiguous rows: hardware prefetching stops at the end of a page.
template <typename T>
HWY_INLINE void prefetch_behind(const T* from) {
  hwy::Prefetch(reinterpret_cast<const char*>(from) + kAheadBytes);
}

// Sums over [0, count): add(sum, i) adds the float64 vector of values at i to a sum, of_value(i) returns the term of a
// remaining value.
template <typename Add, typename OfValue>
HWY_INLINE double sum_over(size_t count, Add&& add, OfValue&& of_value) {
  const ComputeType d;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  auto s2 = hn::Zero(d);
  auto s3 = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = add(s0, i);
    s1 = add(s1, i + lanes);
    s2 = add(s2, i + 2 * lanes);
    s3 = add(s3, i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) s0 = add(s0, i);
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < count; ++i) sum += of_value(i);
  return sum;
}

template <typename T>
HWY_INLINE double sum_of(const T* HWY_RESTRICT v, size_t count) {
  using Sum = hn::Vec<ComputeType>;
  size_t first = 0;
  double sum = 0;
  if constexpr (std::is_same_v<T, float>) {
    const auto value = [v](auto d, size_t i) HWY_ATTR {
      prefetch_behind(v + i);
      return hn::LoadU(d, v + i);
    };
    first = sum_trusted_eights(count, value, is_sum_exact_enough, &sum);
  }
  const T* const rest = v + first;
  return sum + sum_over(
                   count - first,
                   [rest](Sum total, size_t i) HWY_ATTR {
                     prefetch_behind(rest + i);
                     return hn::Add(total, load_computed(rest + i));
                   },
                   [rest](size_t i) { return static_cast<double>(rest[i]); });
}

template <typename T>
Moment moment(const T* HWY_RESTRICT x, size_t count) {
  constexpr size_t kAtATime = 1024;  // the second pass finds them in the first-level cache
  using Sum = hn::Vec<ComputeType>;
  Moment all;
  for (size_t first = 0; first < count; first += kAtATime) {
    const size_t here = HWY_MIN(kAtATime, count - first);
    const T* v = x + first;
    Moment part;
    part.count = static_cast<double>(here);
    part.mean = sum_of(v, here) / part.count;
    if constexpr (std::is_same_v<T, float>) {
      if (sum_squared_distances(v, here, part.mean, &part.squares)) {
        all.add(part);
        continue;
      }
    }
    const auto means = hn::Set(ComputeType(), part.mean);
    part.squares = sum_over(
        here,
        [v, means](Sum sum, size_t i) HWY_ATTR {
          const auto distance = hn::Sub(load_computed(v + i), means);
          return hn::MulAdd(distance, distance, sum);
        },
        [v, &part](size_t i) {
          const double distance = static_cast<double>(v[i]) - part.mean;
          return distance * distance;
        });
    all.add(part);
  }
  return all;
}

template <typename T>
double squares(const T* HWY_RESTRICT x, size_t count) {
  using Sum = hn::Vec<ComputeType>;
  size_t first = 0;
  double sum = 0;
  if constexpr (std::is_same_v<T, float>) {
    const auto square = [x](auto d, size_t i) HWY_ATTR {
      prefetch_behind(x + i);
      const auto v = hn::LoadU(d, x + i);
      return hn::Mul(v, v);
    };
    first = sum_trusted_eights(count, square, are_products_exact_enough, &sum);
  }
  const T* const rest = x + first;
  return sum + sum_over(
                   count - first,
                   [rest](Sum total, size_t i) HWY_ATTR {
                     prefetch_behind(rest + i);
                     const auto v = load_computed(rest + i);
                     return hn::MulAdd(v, v, total);
                   },
                   [rest](size_t i) { return static_cast<double>(rest[i]) * static_cast<double>(rest[i]); });
}

template <typename T>
void normalize(const T* x, size_t count, T mean, T scale, const T* weight, const T* bias, T* y) {
  if (weight != nullptr && bias != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  } else if (weight != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale * weight[i];
  } else if (bias != nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale + bias[i];
  } else {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * scale;
  }
}

template <typename T>
void affine(const T* x, size_t count, T mean, T factor, T offset, T* y) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean) * factor + offset;
}

template <typename T>
void add(const T* a, const T* b, size_t count, T* sum) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

// Sets the sums of g * weight and of g * weight * (x - mean) over the first values, and returns how many: none if
// float32 is too narrow for them.
template <typename T>
HWY_INLINE size_t sum_gradient_in_float(const T* HWY_RESTRICT g, const T* HWY_RESTRICT x, size_t count, T mean,
                                        const T* HWY_RESTRICT weight, GradientSums* sums) {
  if constexpr (std::is_same_v<T, float>) {
    const size_t eights = count - count % eight_vectors();
    const auto slope = [=](auto d, size_t i) HWY_ATTR {
      const auto v = hn::LoadU(d, g + i);
      return weight == nullptr ? v : hn::Mul(v, hn::LoadU(d, weight + i));
    };
    const double products = sum_of_eights(eights, [=](auto d, size_t i) HWY_ATTR {
      return hn::Mul(slope(d, i), hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)));
    });
    const double slopes = sum_of_eights(eights, slope);
    if (are_products_exact_enough(std::fabs(products)) && std::isfinite(slopes)) {
      sums->g = slopes;
      sums->gz = products;
      return eights;
    }
  }
  return 0;
}

template <typename T>
GradientSums gradient_sums(const T* g, const T* x, size_t count, T mean, T scale, const T* weight) {
  const ComputeType d;
  const size_t lanes = hn::Lanes(d);
  const auto means = hn::Set(d, static_cast<double>(mean));
  const auto slope = [=](size_t i) HWY_ATTR {
    const auto v = load_computed(g + i);
    return weight == nullptr ? v : hn::Mul(v, load_computed(weight + i));
  };
  auto a0 = hn::Zero(d);
  auto a1 = hn::Zero(d);
  auto b0 = hn::Zero(d);
  auto b1 = hn::Zero(d);
  GradientSums sums;
  size_t i = sum_gradient_in_float(g, x, count, mean, weight, &sums);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto v0 = slope(i);
    const auto v1 = slope(i + lanes);
    a0 = hn::Add(a0, v0);
    a1 = hn::Add(a1, v1);
    b0 = hn::MulAdd(v0, hn::Sub(load_computed(x + i), means), b0);
    b1 = hn::MulAdd(v1, hn::Sub(load_computed(x + i + lanes), means), b1);
  }
  sums.g += hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, a1)));
  sums.gz += hn::GetLane(hn::SumOfLanes(d, hn::Add(b0, b1)));
  for (; i < count; ++i) {
    const double v = static_cast<double>(g[i]) * (weight == nullptr ? 1.0 : static_cast<double>(weight[i]));
    sums.g += v;
    sums.gz += v * (static_cast<double>(x[i]) - static_cast<double>(mean));
  }
  sums.gz *= static_cast<double>(scale);
  return sums;
}

template <typename T>
void gradient(const T* g, const T* x, size_t count, T mean, T scale, const T* weight, T factor, T a, T b, T* out) {
  if (weight == nullptr) {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) out[i] = factor * (g[i] - a - (x[i] - mean) * scale * b);
  } else {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) out[i] = factor * (g[i] * weight[i] - a - (x[i] - mean) * scale * b);
  }
}

// Adds the terms of `row_count` rows to one vector of columns from i on.
template <typename T, typename D>
HWY_INLINE void weight_gradient_of_lanes(D d, const NormGradientRow<T>* rows, size_t row_count, size_t i,
                                         double* dweight, double* dbias) {
  const hn::Rebind<T, D> narrow;
  auto products = dweight == nullptr ? hn::Zero(d) : hn::LoadU(d, dweight + i);
  auto sums = dbias == nullptr ? hn::Zero(d) : hn::LoadU(d, dbias + i);
  for (size_t r = 0; r < row_count; ++r) {
    const NormGradientRow<T>& row = rows[r];
    prefetch_behind(row.x + i);
    prefetch_behind(row.g + i);
    const auto distance = hn::Sub(hn::LoadU(narrow, row.x + i), hn::Set(narrow, row.mean));
    const auto slope = load_computed(d, row.g + i);
    products = hn::MulAdd(slope, widened(d, hn::Mul(distance, hn::Set(narrow, row.scale))), products);
    sums = hn::Add(sums, slope);
  }
  if (dweight != nullptr) hn::StoreU(products, d, dweight + i);
  if (dbias != nullptr) hn::StoreU(sums, d, dbias + i);
}

// The same for a vector of float32 columns; terms of four rows are added in float32. False, and nothing is stored, if
// such a sum is not finite.
HWY_INLINE bool weight_gradient_of_floats(const NormGradientRow<float>* rows, size_t row_count, size_t i,
                                          double* dweight, double* dbias) {
  constexpr size_t kRows = 4;
  const hn::ScalableTag<float> f;
  const ComputeType d;
  const size_t half = hn::Lanes(d);
  auto products = hn::Zero(f);
  auto sums = hn::Zero(f);
  auto low_products = hn::Zero(d);
  auto high_products = low_products;
  auto low_sums = low_products;
  auto high_sums = low_products;
  for (size_t r = 0; r < row_count; ++r) {
    const NormGradientRow<float>& row = rows[r];
    prefetch_behind(row.x + i);
    prefetch_behind(row.g + i);
    const auto slope = hn::LoadU(f, row.g + i);
    const auto distance = hn::Mul(hn::Sub(hn::LoadU(f, row.x + i), hn::Set(f, row.mean)), hn::Set(f, row.scale));
    products = hn::MulAdd(slope, distance, products);
    sums = hn::Add(sums, slope);
    if (r % kRows != kRows - 1 && r + 1 < row_count) continue;
    low_products = hn::Add(low_products, lower_half(products));
    high_products = hn::Add(high_products, upper_half(products));
    low_sums = hn::Add(low_sums, lower_half(sums));
    high_sums = hn::Add(high_sums, upper_half(sums));
    products = hn::Zero(f);
    sums = hn::Zero(f);
  }
  const auto all = hn::Add(hn::Add(low_products, high_products), hn::Add(low_sums, high_sums));
  if (!hn::AllTrue(d, hn::IsFinite(all))) return false;
  const auto add = [&](double* to, auto low, auto high) HWY_ATTR {
    if (to == nullptr) return;
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), low), d, to + i);
    if (hn::Lanes(f) > half) hn::StoreU(hn::Add(hn::LoadU(d, to + i + half), high), d, to + i + half);
  };
  add(dweight, low_products, high_products);
  add(dbias, low_sums, high_sums);
  return true;
}

// Rows in the inner loop, so that sums are read and written once for all rows.
template <typename T>
void weight_gradient(const NormGradientRow<T>* rows, size_t row_count, size_t count, double* HWY_RESTRICT dweight,
                     double* HWY_RESTRICT dbias) {
  const ComputeType d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if constexpr (std::is_same_v<T, float>) {
    const size_t all = hn::Lanes(hn::ScalableTag<float>());
    for (; i + all <= count; i += all) {
      if (weight_gradient_of_floats(rows, row_count, i, dweight, dbias)) continue;
      for (size_t k = i; k < i + all; k += lanes) weight_gradient_of_lanes(d, rows, row_count, k, dweight, dbias);
    }
  }
  for (; i + lanes <= count; i += lanes) weight_gradient_of_lanes(d, rows, row_count, i, dweight, dbias);
  const hn::CappedTag<double, 1> one;
  for (; i < count; ++i) weight_gradient_of_lanes(one, rows, row_count, i, dweight, dbias);
}

template <typename T>
void sum_channels(const T* HWY_RESTRICT x, size_t count, double* HWY_RESTRICT sums) {
  for (size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(x[i]);
}

template <typename T>
void square_channels(const T* HWY_RESTRICT x, size_t count, const double* HWY_RESTRICT mean,
                     double* HWY_RESTRICT sums) {
  for (size_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(x[i]) - mean[i];
    sums[i] += distance * distance;
  }
}

template <typename T>
void affine_channels(const T* x, size_t count, const T* mean, const T* factor, const T* offset, T* y) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = (x[i] - mean[i]) * factor[i] + offset[i];
}

template <typename T>
void gradient_sums_of_channels(const T* HWY_RESTRICT g, const T* HWY_RESTRICT x, size_t count,
                               const T* HWY_RESTRICT mean, double* HWY_RESTRICT sums, double* HWY_RESTRICT products) {
  for (size_t i = 0; i < count; ++i) {
    const double slope = static_cast<double>(g[i]);
    sums[i] += slope;
    products[i] += slope * (static_cast<double>(x[i]) - static_cast<double>(mean[i]));
  }
}

template <typename T>
void gradient_of_channels(const T* g, const T* x, size_t count, const T* mean, const T* scale, const T* factor,
                          const T* a, const T* b, T* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) out[i] = factor[i] * (g[i] - a[i] - (x[i] - mean[i]) * scale[i] * b[i]);
}

template <typename T>
NormRows<T> rows() {
  return {&moment<T>,
          &squares<T>,
          &normalize<T>,
          &affine<T>,
          &add<T>,
          &gradient_sums<T>,
          &gradient<T>,
          &weight_gradient<T>,
          {&sum_channels<T>, &square_channels<T>, &affine_channels<T>, &gradient_sums_of_channels<T>,
           &gradient_of_channels<T>}};
}

NormRows<float> rows_float() { return rows<float>(); }
NormRows<double> rows_double() { return rows<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(rows_float);
HWY_EXPORT(rows_double);

}  // namespace

NormRows<float> norm_rows_float() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(rows_float)();
}

NormRows<double> norm_rows_double() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(rows_double)();
}

}  // namespace softnpu
#endif
