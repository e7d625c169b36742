#include "ops/elementwise/scalar_math.h"

#include <algorithm>
#include <concepts>
#include <limits>

namespace softnpu {
namespace {

// f(a, k), f(a, b, k) for each value, for the floating types. f is a generic lambda without captures.
template <typename F, typename T>
void loop(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* k = static_cast<const T*>(constants);
  auto* y = static_cast<T*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  if constexpr (std::invocable<F, T, const T*>) {
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], k);
  } else {
    const auto* b = static_cast<const T*>(in[1]);
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], b[i], k);
  }
}

template <typename F>
MapKernel floating(F, Wide wide) {
  switch (wide) {
    case Wide::kF32: return &loop<F, float>;
    case Wide::kF64: return &loop<F, double>;
    default: return nullptr;
  }
}

template <std::floating_point T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <std::floating_point T>
T log_sigmoid(T x) {
  return std::min(T(0), x) - std::log1p(std::exp(-std::fabs(x)));
}

// Winitzki's first guess, then Newton's steps on erf until nothing changes.
template <std::floating_point T>
T erfinv(T y) {
  if (std::isnan(y) || std::fabs(y) > 1) return std::numeric_limits<T>::quiet_NaN();
  if (std::fabs(y) == 1) return std::copysign(std::numeric_limits<T>::infinity(), y);
  if (y == 0) return y;
  constexpr double kA = 0.147;
  const double target = y;
  const double log = std::log1p(-target * target);
  const double half = 2 / (std::numbers::pi * kA) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), target);
  for (int i = 0; i < 4; ++i) {
    // Close to 1 the complement keeps the digits.
    const double beyond = (1 - std::fabs(target)) - std::erfc(std::fabs(x));
    const double off = std::fabs(target) < 0.5 ? std::erf(x) - target : (target < 0 ? -beyond : beyond);
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    if (slope == 0) break;
    const double step = off / slope;
    x -= step / (1 + x * step);  // Halley
  }
  return static_cast<T>(x);
}

template <std::floating_point T>
T xlogy(T a, T b) {
  if (std::isnan(b)) return b;
  return a == 0 ? T(0) : a * std::log(b);
}

template <std::floating_point T>
T log_add_exp(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  const T larger = std::max(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

template <std::floating_point T>
T log_add_exp2(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return std::max(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * std::numbers::log2e_v<T>;
}

template <std::floating_point T>
T mish_backward(T g, T x) {
  const T s = sigmoid(x);
  const T t = std::tanh(std::log1p(std::exp(x)));
  return x > 20 ? g : g * (t + x * s * (1 - t * t));
}

template <std::floating_point T>
T gelu_tanh_backward(T g, T x) {
  const T square = x * x;
  const T t = std::tanh(T(kGeluScale) * (x + T(kGeluCube) * x * square));
  const T slope = T(kGeluScale) * (1 + 3 * T(kGeluCube) * square);
  return g * (T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * slope);
}

template <std::floating_point T>
T logit(T a, T eps) {
  const T x = eps < 0 ? a : std::clamp(a, eps, 1 - eps);
  return std::isnan(a) ? a : std::log(x / (1 - x));
}

}  // namespace

MapKernel scalar_kernel(MapOp op, Wide wide) {
  using std::floating_point;
  switch (op) {
    case MapOp::kExp2: return floating([](floating_point auto a, const auto*) { return std::exp2(a); }, wide);
    case MapOp::kTan: return floating([](floating_point auto a, const auto*) { return std::tan(a); }, wide);
    case MapOp::kAsin: return floating([](floating_point auto a, const auto*) { return std::asin(a); }, wide);
    case MapOp::kAcos: return floating([](floating_point auto a, const auto*) { return std::acos(a); }, wide);
    case MapOp::kSinh: return floating([](floating_point auto a, const auto*) { return std::sinh(a); }, wide);
    case MapOp::kCosh: return floating([](floating_point auto a, const auto*) { return std::cosh(a); }, wide);
    case MapOp::kAsinh: return floating([](floating_point auto a, const auto*) { return std::asinh(a); }, wide);
    case MapOp::kAcosh: return floating([](floating_point auto a, const auto*) { return std::acosh(a); }, wide);
    case MapOp::kAtanh: return floating([](floating_point auto a, const auto*) { return std::atanh(a); }, wide);
    case MapOp::kErf: return floating([](floating_point auto a, const auto*) { return std::erf(a); }, wide);
    case MapOp::kErfc: return floating([](floating_point auto a, const auto*) { return std::erfc(a); }, wide);
    case MapOp::kErfinv: return floating([](floating_point auto a, const auto*) { return erfinv(a); }, wide);
    case MapOp::kLogSigmoid: return floating([](floating_point auto a, const auto*) { return log_sigmoid(a); }, wide);
    case MapOp::kGelu: return floating([](floating_point auto a, const auto*) { return gelu(a); }, wide);
    case MapOp::kMish:
      return floating([](floating_point auto a, const auto*) { return a * std::tanh(std::log1p(std::exp(a))); }, wide);
    case MapOp::kSinc:
      return floating(
          []<floating_point T>(T a, const T*) {
            const T x = a * std::numbers::pi_v<T>;
            return a == 0 ? T(1) : std::sin(x) / x;
          },
          wide);
    case MapOp::kSoftplus:
      return floating(
          []<floating_point T>(T a, const T* k) { return a * k[0] > k[1] ? a : std::log1p(std::exp(a * k[0])) / k[0]; },
          wide);
    case MapOp::kElu:
      return floating(
          []<floating_point T>(T a, const T* k) { return a < 0 ? std::expm1(a * k[2]) * (k[0] * k[1]) : a * k[1]; },
          wide);
    case MapOp::kLogit: return floating([]<floating_point T>(T a, const T* k) { return logit(a, k[0]); }, wide);
    case MapOp::kPow:
      return floating([]<floating_point T>(T a, T b, const T*) { return static_cast<T>(std::pow(a, b)); }, wide);
    case MapOp::kAtan2: return floating([]<floating_point T>(T a, T b, const T*) { return std::atan2(a, b); }, wide);
    case MapOp::kXlogy: return floating([]<floating_point T>(T a, T b, const T*) { return xlogy(a, b); }, wide);
    case MapOp::kLogAddExp:
      return floating([]<floating_point T>(T a, T b, const T*) { return log_add_exp(a, b); }, wide);
    case MapOp::kLogAddExp2:
      return floating([]<floating_point T>(T a, T b, const T*) { return log_add_exp2(a, b); }, wide);
    case MapOp::kSiluBackward:
      return floating([]<floating_point T>(T g, T x, const T*) { return silu_backward(g, x); }, wide);
    case MapOp::kGeluBackward:
      return floating([]<floating_point T>(T g, T x, const T*) { return gelu_backward(g, x); }, wide);
    case MapOp::kGeluTanhBackward:
      return floating([]<floating_point T>(T g, T x, const T*) { return gelu_tanh_backward(g, x); }, wide);
    case MapOp::kMishBackward:
      return floating([]<floating_point T>(T g, T x, const T*) { return mish_backward(g, x); }, wide);
    case MapOp::kSoftplusBackward:
      return floating(
          []<floating_point T>(T g, T x, const T* k) {
            const T z = std::exp(x * k[0]);
            return x * k[0] > k[1] ? g : g * z / (z + 1);
          },
          wide);
    case MapOp::kEluBackward:
      return floating(
          []<floating_point T>(T g, T x, const T* k) {
            return x <= 0 ? g * k[2] * k[0] * k[1] * std::exp(x * k[2]) : g * k[1];
          },
          wide);
    case MapOp::kEluBackwardOfResult:
      return floating(
          []<floating_point T>(T g, T y, const T* k) { return y <= 0 ? g * k[2] * (y + k[0] * k[1]) : g * k[1]; },
          wide);
    case MapOp::kLogSigmoidBackward:
      return floating([]<floating_point T>(T g, T x, const T*) { return g * sigmoid(-x); }, wide);
    default: return nullptr;
  }
}

}  // namespace softnpu
