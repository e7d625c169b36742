#include "ops/nn/upsample/taps.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace softnpu {
namespace {

void add(Taps* taps, int64_t index, double weight) {
  taps->index.push_back(index);
  taps->weight.push_back(weight);
}

void end_row(Taps* taps) { taps->begin.push_back(static_cast<int64_t>(taps->index.size())); }

// Keys' cubic convolution kernel (1981) at `x`, with its parameter `a`. Always in double: its terms cancel near 1 and
// 2.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// The distance in the input of adjacent positions of the result.
template <typename Real>
Real step_of(const Resize& r) {
  if (r.align_corners) return r.out > 1 ? static_cast<Real>(r.in - 1) / static_cast<Real>(r.out - 1) : Real{0};
  return r.scale > 0 ? static_cast<Real>(1.0 / r.scale) : static_cast<Real>(r.in) / static_cast<Real>(r.out);
}

// The index of the value at or before a position in an input of `size`. Scales may yield any position, even NaN.
template <typename Real>
int64_t value_at(Real position, int64_t size) {
  if (position >= static_cast<Real>(size - 1)) return size - 1;
  return position > 0 ? static_cast<int64_t>(position) : 0;
}

// PyTorch computes these positions in float32 for every data type.
int64_t nearest(const Resize& r, int64_t at) {
  if (r.mode == Interpolation::kNearest) {
    if (r.out == r.in) return at;
    if (r.out == 2 * r.in) return at / 2;
  }
  const Resize apart{r.mode, r.in, r.out, false, r.scale};
  const float middle = r.mode == Interpolation::kNearestExact ? 0.5F : 0.0F;
  const float position = (static_cast<float>(at) + middle) * step_of<float>(apart);
  return value_at(position, r.in);
}

template <typename Real>
void linear(const Resize& r, int64_t at, Taps* taps) {
  if (r.out == r.in) return add(taps, at, 1);
  const Real step = step_of<Real>(r);
  const auto x = static_cast<Real>(at);
  const Real position = r.align_corners ? step * x : std::max(Real{0}, step * (x + Real(0.5)) - Real(0.5));
  const int64_t first = value_at(position, r.in);
  const Real second = std::clamp(position - static_cast<Real>(first), Real{0}, Real{1});
  add(taps, first, Real{1} - second);
  add(taps, std::min(first + 1, r.in - 1), second);
}

template <typename Real>
void cubic(const Resize& r, int64_t at, Taps* taps) {
  const Real step = step_of<Real>(r);
  const auto x = static_cast<Real>(at);
  const Real position = r.align_corners ? step * x : step * (x + Real(0.5)) - Real(0.5);
  const int64_t first = std::min(static_cast<int64_t>(std::floor(position)), r.in - 1);
  const double t = std::clamp(position - static_cast<Real>(first), Real{0}, Real{1});
  const std::array<double, 4> distances = {t + 1, t, 1 - t, 2 - t};
  for (int64_t k = 0; k < 4; ++k) {
    add(taps, std::clamp<int64_t>(first - 1 + k, 0, r.in - 1), cubic(distances[static_cast<size_t>(k)], -0.75));
  }
}

// Antialiasing: for downsampling the filter is as wide as a step of the result.
template <typename Real>
void smooth(const Resize& r, int64_t at, Taps* taps) {
  if (r.out == r.in) return add(taps, at, 1);  // regardless of the scale, as in PyTorch
  const bool is_cubic = r.mode == Interpolation::kSmoothCubic;
  const Real step = step_of<Real>(r);
  const Real width = std::max(step, Real{1});
  const Real support = (is_cubic ? 2 : 1) * width;
  const Real center = step * (static_cast<Real>(at) + Real(0.5));
  const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + Real(0.5)), 0);
  const int64_t last = std::min(static_cast<int64_t>(center + support + Real(0.5)), r.in);
  const auto begin = static_cast<size_t>(taps->count());
  Real total = 0;
  for (int64_t i = first; i < last; ++i) {
    const Real x = (static_cast<Real>(i) - center + Real(0.5)) / width;
    const Real weight = is_cubic ? static_cast<Real>(cubic(x, -0.5)) : std::max(Real{0}, 1 - std::abs(x));
    total += weight;
    add(taps, i, weight);
  }
  if (total == 0) return;
  for (size_t k = begin; k < taps->weight.size(); ++k) taps->weight[k] /= total;
}

}  // namespace

Taps Taps::transposed(int64_t columns) const {
  Taps result;
  result.begin.assign(static_cast<size_t>(columns) + 1, 0);
  for (const int64_t column : index) ++result.begin[static_cast<size_t>(column) + 1];
  for (size_t i = 1; i < result.begin.size(); ++i) result.begin[i] += result.begin[i - 1];
  std::vector<int64_t> next(result.begin.begin(), result.begin.end() - 1);
  result.index.resize(index.size());
  result.weight.resize(index.size());
  for (int64_t row = 0; row < rows(); ++row) {
    for (int64_t k = begin[static_cast<size_t>(row)]; k < begin[static_cast<size_t>(row) + 1]; ++k) {
      const auto from = static_cast<size_t>(k);
      const auto to = static_cast<size_t>(next[static_cast<size_t>(index[from])]++);
      result.index[to] = row;
      result.weight[to] = weight[from];
    }
  }
  return result;
}

template <typename Real>
Taps taps_of(const Resize& resize) {
  Taps taps;
  for (int64_t at = 0; at < resize.out; ++at) {
    switch (resize.mode) {
      case Interpolation::kNearest:
      case Interpolation::kNearestExact: add(&taps, nearest(resize, at), 1); break;
      case Interpolation::kLinear: linear<Real>(resize, at, &taps); break;
      case Interpolation::kCubic: cubic<Real>(resize, at, &taps); break;
      case Interpolation::kSmoothLinear:
      case Interpolation::kSmoothCubic: smooth<Real>(resize, at, &taps); break;
    }
    end_row(&taps);
  }
  return taps;
}

template Taps taps_of<float>(const Resize& resize);
template Taps taps_of<double>(const Resize& resize);

}  // namespace softnpu
