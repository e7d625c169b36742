#include "ops/norm/rows.h"

#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/norm/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;

template <typename T>
HWY_INLINE auto load_wide(const T* from) {
  const Wide d;
  if constexpr (sizeof(T) == sizeof(double)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Wide>(), from));
  }
}

// Sums of_vector(i) over vectors of float64 of [0, count), and of_value(i) over what is left.
template <typename OfVector, typename OfValue>
HWY_INLINE double sum_over(size_t count, OfVector&& of_vector, OfValue&& of_value) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, of_vector(i));
    b = hn::Add(b, of_vector(i + lanes));
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < count; ++i) sum += of_value(i);
  return sum;
}

template <typename T>
Moment moment(const T* HWY_RESTRICT x, size_t count) {
  constexpr size_t kAtATime = 1024;  // the second look finds them in the first-level cache
  Moment all;
  for (size_t first = 0; first < count; first += kAtATime) {
    const size_t here = HWY_MIN(kAtATime, count - first);
    const T* v = x + first;
    Moment part;
    part.count = static_cast<double>(here);
    part.mean = sum_over(
                    here, [&](size_t i) HWY_ATTR { return load_wide(v + i); },
                    [&](size_t i) { return static_cast<double>(v[i]); }) /
                part.count;
    part.squares = sum_over(
        here,
        [&](size_t i) HWY_ATTR {
          const auto distance = hn::Sub(load_wide(v + i), hn::Set(Wide(), part.mean));
          return hn::Mul(distance, distance);
        },
        [&](size_t i) {
          const double distance = static_cast<double>(v[i]) - part.mean;
          return distance * distance;
        });
    all.add(part);
  }
  return all;
}

template <typename T>
double squares(const T* HWY_RESTRICT x, size_t count) {
  return sum_over(
      count,
      [&](size_t i) HWY_ATTR {
        const auto v = load_wide(x + i);
        return hn::Mul(v, v);
      },
      [&](size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
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

template <typename T>
GradientSums gradient_sums(const T* g, const T* x, size_t count, T mean, T scale, const T* weight) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  const auto means = hn::Set(d, static_cast<double>(mean));
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto v = load_wide(g + i);
    if (weight != nullptr) v = hn::Mul(v, load_wide(weight + i));
    a = hn::Add(a, v);
    b = hn::MulAdd(v, hn::Sub(load_wide(x + i), means), b);
  }
  GradientSums sums;
  sums.g = hn::GetLane(hn::SumOfLanes(d, a));
  sums.gz = hn::GetLane(hn::SumOfLanes(d, b));
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

template <typename T>
void weight_gradient(const T* HWY_RESTRICT g, const T* HWY_RESTRICT x, size_t count, T mean, T scale,
                     double* HWY_RESTRICT dweight, double* HWY_RESTRICT dbias) {
  if (dweight != nullptr) {
    for (size_t i = 0; i < count; ++i)
      dweight[i] += static_cast<double>(g[i]) * static_cast<double>((x[i] - mean) * scale);
  }
  if (dbias != nullptr) {
    for (size_t i = 0; i < count; ++i) dbias[i] += static_cast<double>(g[i]);
  }
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
