#pragma once
// One coordinate of a grid along one dimension of an image: the indices of the values that it uses, their weights, and
// the weights' derivatives. The definitions are PyTorch's (aten/src/ATen/native/GridSampler.h).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace softnpu {

// The numbers are those of PyTorch's arguments.
enum class GridMode : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum class GridPadding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

template <typename T>
struct AxisTaps {
  int64_t count = 0;
  std::array<int64_t, 4> index = {};  // -1: outside, counts as zero
  std::array<T, 4> weight = {};
  std::array<T, 4> slope = {};  // derivative of the weight by the grid's coordinate
};

template <typename T>
class Axis {
 public:
  Axis(int64_t size, GridMode mode, GridPadding padding, bool align_corners)
      : size_(size), mode_(mode), padding_(padding), align_(align_corners) {}

  AxisTaps<T> locate(T coordinate) const {
    const T length = static_cast<T>(align_ ? size_ - 1 : size_);
    const T position = align_ ? (coordinate + 1) / 2 * length : ((coordinate + 1) * length - 1) / 2;
    if (mode_ == GridMode::kCubic) return cubic(position, length / 2);
    const Location tap = pad(position);
    return mode_ == GridMode::kNearest ? nearest(tap.at) : linear(tap.at, tap.slope * length / 2);
  }

 private:
  struct Location {
    T at;
    T slope;  // derivative by the position before it was moved into the image
  };

  int64_t inside(T at) const { return at >= 0 && at < static_cast<T>(size_) ? static_cast<int64_t>(at) : -1; }

  Location clip(Location p) const {
    const T last = static_cast<T>(size_ - 1);
    if (!(p.at > 0)) return {0, 0};
    if (p.at >= last) return {last, 0};
    return p;
  }

  Location reflect(T at) const {
    const T low = align_ ? T{0} : T(-0.5);
    const T span = static_cast<T>(align_ ? size_ - 1 : size_);
    if (span == 0) return {0, 0};
    const T distance = std::abs(at - low);
    const T rest = std::fmod(distance, span);
    const T sign = at < low ? T{-1} : T{1};
    const bool is_even = std::fmod(std::floor(distance / span), T{2}) == 0;
    return is_even ? Location{rest + low, sign} : Location{span - rest + low, -sign};
  }

  Location pad(T at) const {
    switch (padding_) {
      case GridPadding::kBorder: return clip({at, 1});
      case GridPadding::kReflection: return clip(reflect(at));
      default: return {at, 1};
    }
  }

  AxisTaps<T> nearest(T at) const { return {1, {inside(std::nearbyint(at))}, {1}, {0}}; }

  // std::floor is a call on machines whose instructions are not known.
  static T floor(T at) {
    constexpr T kExact = T(1 << 20);
    if (!(at > -kExact && at < kExact)) return std::floor(at);
    const T towards_zero = static_cast<T>(static_cast<int32_t>(at));
    return towards_zero > at ? towards_zero - 1 : towards_zero;
  }

  AxisTaps<T> linear(T at, T slope) const {
    const T first = floor(at);
    const T t = at - first;
    return {2, {inside(first), inside(first + 1)}, {1 - t, t}, {-slope, slope}};
  }

  // Keys' kernel with the parameter -0.75; each value is padded separately.
  AxisTaps<T> cubic(T at, T slope) const {
    constexpr T kA = T(-0.75);
    const T first = floor(at);
    const T t = at - first;
    const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    const auto near_slope = [](T x) { return (3 * (kA + 2) * x - 2 * (kA + 3)) * x; };
    const auto far_slope = [](T x) { return (3 * kA * x - 10 * kA) * x + 8 * kA; };
    AxisTaps<T> taps{
        4,
        {},
        {far(t + 1), near(t), near(1 - t), far(2 - t)},
        {slope * far_slope(t + 1), slope * near_slope(t), -slope * near_slope(1 - t), -slope * far_slope(2 - t)}};
    for (size_t k = 0; k < 4; ++k) taps.index[k] = inside(pad(first - 1 + static_cast<T>(k)).at);
    return taps;
  }

  int64_t size_;
  GridMode mode_;
  GridPadding padding_;
  bool align_;
};

}  // namespace softnpu
