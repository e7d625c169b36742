#include "simd/math/scalar_math.h"

#include <algorithm>
#include <concepts>
#include <limits>

namespace softnpu {
namespace {

// f(a), f(a, b), f(a, k), f(a, b, k) for each value. f has no captures.
template <typename F>
void loop(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* k = static_cast<const double*>(constants);
  auto* y = static_cast<double*>(out);
  const auto* a = static_cast<const double*>(in[0]);
  if constexpr (std::invocable<F, double>) {
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i]);
  } else if constexpr (std::invocable<F, double, const double*>) {
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], k);
  } else {
    const auto* b = static_cast<const double*>(in[1]);
    if constexpr (std::invocable<F, double, double>) {
      for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], b[i]);
    } else {
      for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], b[i], k);
    }
  }
}

template <typename F>
MathKernel each(F) {
  return &loop<F>;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double log_sigmoid(double x) { return std::min(0.0, x) - std::log1p(std::exp(-std::fabs(x))); }

// Winitzki's approximation, then Newton's steps on erf until the value is stable.
double erfinv(double target) {
  if (std::isnan(target) || std::fabs(target) > 1) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(target) == 1) return std::copysign(std::numeric_limits<double>::infinity(), target);
  if (target == 0) return target;
  constexpr double kA = 0.147;
  const double log = std::log1p(-target * target);
  const double half = 2 / (std::numbers::pi * kA) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), target);
  for (int i = 0; i < 4; ++i) {
    // Close to 1 the complement keeps more digits.
    const double beyond = (1 - std::fabs(target)) - std::erfc(std::fabs(x));
    const double off = std::fabs(target) < 0.5 ? std::erf(x) - target : (target < 0 ? -beyond : beyond);
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    if (slope == 0) break;
    const double step = off / slope;
    x -= step / (1 + x * step);  // Halley
  }
  return x;
}

double xlogy(double a, double b) {
  if (std::isnan(b)) return b;
  return a == 0 ? 0.0 : a * std::log(b);
}

double log_add_exp(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  const double larger = std::max(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

double log_add_exp2(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return std::max(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * std::numbers::log2e;
}

double mish(double x) {
  if (x > -40) return x * std::tanh(std::log1p(std::exp(x)));
  // There it is x exp(x). The smallest exponentials have few digits, hence the two steps.
  const double half = std::exp(x / 2);
  return x * half * half;
}

double mish_backward(double g, double x) {
  const double s = sigmoid(x);
  const double t = std::tanh(std::log1p(std::exp(x)));
  return x > 20 ? g : g * (t + x * s * (1 - t * t));
}

double gelu_tanh_backward(double g, double x) {
  const double square = x * x;
  const double t = std::tanh(kGeluScale * (x + kGeluCube * x * square));
  const double slope = kGeluScale * (1 + 3 * kGeluCube * square);
  return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
}

double logit(double a, double eps) {
  const double x = eps < 0 ? a : std::clamp(a, eps, 1 - eps);
  return std::isnan(a) ? a : std::log(x / (1 - x));
}

}  // namespace

MathKernel scalar_kernel(MathFunction function) {
  switch (function) {
    case MathFunction::kExp2: return each([](double a) { return std::exp2(a); });
    case MathFunction::kTan: return each([](double a) { return std::tan(a); });
    case MathFunction::kAsin: return each([](double a) { return std::asin(a); });
    case MathFunction::kAcos: return each([](double a) { return std::acos(a); });
    case MathFunction::kSinh: return each([](double a) { return std::sinh(a); });
    case MathFunction::kCosh: return each([](double a) { return std::cosh(a); });
    case MathFunction::kAsinh: return each([](double a) { return std::asinh(a); });
    case MathFunction::kAcosh: return each([](double a) { return std::acosh(a); });
    case MathFunction::kAtanh: return each([](double a) { return std::atanh(a); });
    case MathFunction::kErf: return each([](double a) { return std::erf(a); });
    case MathFunction::kErfc: return each([](double a) { return std::erfc(a); });
    case MathFunction::kErfinv: return each([](double a) { return erfinv(a); });
    case MathFunction::kLogSigmoid: return each([](double a) { return log_sigmoid(a); });
    case MathFunction::kGelu: return each([](double a) { return gelu(a); });
    case MathFunction::kMish: return each([](double a) { return mish(a); });
    case MathFunction::kSinc:
      return each([](double a) {
        const double x = a * std::numbers::pi;
        return a == 0 ? 1 : std::sin(x) / x;
      });
    case MathFunction::kSoftplus:
      return each(
          [](double a, const double* k) { return a * k[0] > k[1] ? a : std::log1p(std::exp(a * k[0])) / k[0]; });
    case MathFunction::kElu:
      return each([](double a, const double* k) { return a < 0 ? std::expm1(a * k[2]) * (k[0] * k[1]) : a * k[1]; });
    case MathFunction::kLogit: return each([](double a, const double* k) { return logit(a, k[0]); });
    case MathFunction::kPow: return each([](double a, double b) { return std::pow(a, b); });
    case MathFunction::kAtan2: return each([](double a, double b) { return std::atan2(a, b); });
    case MathFunction::kXlogy: return each([](double a, double b) { return xlogy(a, b); });
    case MathFunction::kLogAddExp: return each([](double a, double b) { return log_add_exp(a, b); });
    case MathFunction::kLogAddExp2: return each([](double a, double b) { return log_add_exp2(a, b); });
    case MathFunction::kSiluBackward: return each([](double g, double x) { return silu_backward(g, x); });
    case MathFunction::kGeluBackward: return each([](double g, double x) { return gelu_backward(g, x); });
    case MathFunction::kGeluTanhBackward: return each([](double g, double x) { return gelu_tanh_backward(g, x); });
    case MathFunction::kMishBackward: return each([](double g, double x) { return mish_backward(g, x); });
    case MathFunction::kSoftplusBackward:
      return each([](double g, double x, const double* k) {
        const double z = std::exp(x * k[0]);
        return x * k[0] > k[1] ? g : g * z / (z + 1);
      });
    case MathFunction::kEluBackward:
      return each([](double g, double x, const double* k) {
        return x <= 0 ? g * k[2] * k[0] * k[1] * std::exp(x * k[2]) : g * k[1];
      });
    case MathFunction::kLogSigmoidBackward: return each([](double g, double x) { return g * sigmoid(-x); });
    default: return nullptr;
  }
}

}  // namespace softnpu
