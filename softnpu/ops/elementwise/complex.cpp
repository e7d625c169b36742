// The functions of complex numbers, one value at a time. A predicate's result is 1 or 0.

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ops/elementwise/map_op.h"

namespace softnpu {
namespace {

template <typename F, typename T>
void loop(void* out, const void* const* in, size_t count, const void* constants) {
  const auto* k = static_cast<const T*>(constants);
  const auto* a = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  if constexpr (std::is_invocable_v<F, T, const T*>) {
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], k);
  } else if constexpr (std::is_invocable_v<F, T, T, const T*>) {
    const auto* b = static_cast<const T*>(in[1]);
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], b[i], k);
  } else {
    const auto* b = static_cast<const T*>(in[1]);
    const auto* c = static_cast<const T*>(in[2]);
    for (size_t i = 0; i < count; ++i) y[i] = F()(a[i], b[i], c[i], k);
  }
}

template <typename F>
MapKernel both(F, Wide wide) {
  return wide == Wide::kC64 ? &loop<F, std::complex<float>> : &loop<F, std::complex<double>>;
}

// By the definition: C++'s own product looks for infinities, which PyTorch's does not.
template <typename R>
std::complex<R> product(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's: no square of a part overflows.
template <typename R>
std::complex<R> quotient(std::complex<R> a, std::complex<R> b) {
  if (std::fabs(b.real()) >= std::fabs(b.imag())) {
    if (b.real() == 0 && b.imag() == 0) return {a.real() / b.real(), a.imag() / b.real()};
    const R ratio = b.imag() / b.real();
    const R whole = b.real() + b.imag() * ratio;
    return {(a.real() + a.imag() * ratio) / whole, (a.imag() - a.real() * ratio) / whole};
  }
  const R ratio = b.real() / b.imag();
  const R whole = b.real() * ratio + b.imag();
  return {(a.real() * ratio + a.imag()) / whole, (a.imag() * ratio - a.real()) / whole};
}

template <typename R>
std::complex<R> log1p(std::complex<R> a) {
  const R re = a.real();
  const R im = a.imag();
  // Next to -1 the sum of squares cancels, and 1 + re is exact.
  const R size = re < R(-0.5) ? std::log(std::hypot(1 + re, im)) : std::log1p(re * (2 + re) + im * im) / 2;
  return {size, std::atan2(im, 1 + re)};
}

template <typename R>
bool finite(std::complex<R> a) {
  return std::isfinite(a.real()) && std::isfinite(a.imag());
}

template <typename R>
std::complex<R> between(std::complex<R> a, std::complex<R> b, std::complex<R> weight) {
  const std::complex<R> one(1);
  return std::abs(weight) < R(0.5) ? a + product(weight, b - a) : b - product(b - a, one - weight);
}

}  // namespace

MapKernel complex_kernel(MapOp op, Wide wide) {
  switch (op) {
    case MapOp::kIdentity: return both([]<typename T>(T a, const T*) { return a; }, wide);
    case MapOp::kAbs: return both([]<typename T>(T a, const T*) { return T(std::abs(a)); }, wide);
    case MapOp::kNeg: return both([]<typename T>(T a, const T*) { return -a; }, wide);
    case MapOp::kSign: return both([]<typename T>(T a, const T*) { return a == T(0) ? a : a / std::abs(a); }, wide);
    case MapOp::kSquare: return both([]<typename T>(T a, const T*) { return product(a, a); }, wide);
    case MapOp::kCube: return both([]<typename T>(T a, const T*) { return product(product(a, a), a); }, wide);
    case MapOp::kReciprocalSquare:
      return both([]<typename T>(T a, const T*) { return quotient(T(1), product(a, a)); }, wide);
    case MapOp::kReciprocal: return both([]<typename T>(T a, const T*) { return quotient(T(1), a); }, wide);
    case MapOp::kLogicalNot: return both([]<typename T>(T a, const T*) { return T(a == T(0)); }, wide);
    case MapOp::kIsFinite: return both([]<typename T>(T a, const T*) { return T(finite(a)); }, wide);
    case MapOp::kNanToNum:
      return both(
          []<typename T>(T a, const T* k) {
            const auto of = [k](auto part) {
              if (std::isnan(part)) return k[0].real();
              return std::isinf(part) ? k[part > 0 ? 1 : 2].real() : part;
            };
            return T(of(a.real()), of(a.imag()));
          },
          wide);
    case MapOp::kSqrt: return both([]<typename T>(T a, const T*) { return std::sqrt(a); }, wide);
    case MapOp::kRsqrt: return both([]<typename T>(T a, const T*) { return quotient(T(1), std::sqrt(a)); }, wide);
    case MapOp::kExp: return both([]<typename T>(T a, const T*) { return std::exp(a); }, wide);
    case MapOp::kExp2:
      return both([]<typename T>(T a, const T*) { return std::exp(a * std::numbers::ln2_v<typename T::value_type>); },
                  wide);
    case MapOp::kExpm1:
      return both(
          []<typename T>(T a, const T*) {
            const auto half = std::sin(a.imag() / 2);
            const auto grown = std::exp(a.real());
            return T(std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, grown * std::sin(a.imag()));
          },
          wide);
    case MapOp::kLog: return both([]<typename T>(T a, const T*) { return std::log(a); }, wide);
    case MapOp::kLog2:
      return both([]<typename T>(T a, const T*) { return std::log(a) * std::numbers::log2e_v<typename T::value_type>; },
                  wide);
    case MapOp::kLog10: return both([]<typename T>(T a, const T*) { return std::log10(a); }, wide);
    case MapOp::kLog1p: return both([]<typename T>(T a, const T*) { return log1p(a); }, wide);
    case MapOp::kSin: return both([]<typename T>(T a, const T*) { return std::sin(a); }, wide);
    case MapOp::kCos: return both([]<typename T>(T a, const T*) { return std::cos(a); }, wide);
    case MapOp::kTan: return both([]<typename T>(T a, const T*) { return std::tan(a); }, wide);
    case MapOp::kAsin: return both([]<typename T>(T a, const T*) { return std::asin(a); }, wide);
    case MapOp::kAcos: return both([]<typename T>(T a, const T*) { return std::acos(a); }, wide);
    case MapOp::kAtan: return both([]<typename T>(T a, const T*) { return std::atan(a); }, wide);
    case MapOp::kSinh: return both([]<typename T>(T a, const T*) { return std::sinh(a); }, wide);
    case MapOp::kCosh: return both([]<typename T>(T a, const T*) { return std::cosh(a); }, wide);
    case MapOp::kTanh: return both([]<typename T>(T a, const T*) { return std::tanh(a); }, wide);
    case MapOp::kAsinh: return both([]<typename T>(T a, const T*) { return std::asinh(a); }, wide);
    case MapOp::kAcosh: return both([]<typename T>(T a, const T*) { return std::acosh(a); }, wide);
    case MapOp::kAtanh: return both([]<typename T>(T a, const T*) { return std::atanh(a); }, wide);
    case MapOp::kSigmoid:
      return both([]<typename T>(T a, const T*) { return quotient(T(1), T(1) + std::exp(-a)); }, wide);
    case MapOp::kSilu: return both([]<typename T>(T a, const T*) { return quotient(a, T(1) + std::exp(-a)); }, wide);
    case MapOp::kSinc:
      return both(
          []<typename T>(T a, const T*) {
            const T x = a * std::numbers::pi_v<typename T::value_type>;
            return a == T(0) ? T(1) : quotient(std::sin(x), x);
          },
          wide);
    case MapOp::kAdd: return both([]<typename T>(T a, T b, const T* k) { return a + product(k[0], b); }, wide);
    case MapOp::kSub: return both([]<typename T>(T a, T b, const T* k) { return a - product(k[0], b); }, wide);
    case MapOp::kRsub: return both([]<typename T>(T a, T b, const T* k) { return b - product(k[0], a); }, wide);
    case MapOp::kMul: return both([]<typename T>(T a, T b, const T*) { return product(a, b); }, wide);
    case MapOp::kDiv: return both([]<typename T>(T a, T b, const T*) { return quotient(a, b); }, wide);
    case MapOp::kPow: return both([]<typename T>(T a, T b, const T*) { return std::pow(a, b); }, wide);
    case MapOp::kXlogy:
      return both([]<typename T>(T a, T b, const T*) { return a == T(0) ? T(0) : product(a, std::log(b)); }, wide);
    case MapOp::kLogAddExp:
      return both(
          []<typename T>(T a, T b, const T*) {
            // Which is the larger one of two with equal real parts decides the branch: PyTorch takes the first.
            const bool first = a.real() >= b.real();
            const T larger = first ? a : b;
            const T smaller = first ? b : a;
            return larger + log1p(std::exp(smaller - larger));
          },
          wide);
    case MapOp::kEq: return both([]<typename T>(T a, T b, const T*) { return T(a == b); }, wide);
    case MapOp::kNe: return both([]<typename T>(T a, T b, const T*) { return T(a != b); }, wide);
    case MapOp::kLogicalAnd:
      return both([]<typename T>(T a, T b, const T*) { return T(a != T(0) && b != T(0)); }, wide);
    case MapOp::kLogicalOr: return both([]<typename T>(T a, T b, const T*) { return T(a != T(0) || b != T(0)); }, wide);
    case MapOp::kLogicalXor:
      return both([]<typename T>(T a, T b, const T*) { return T((a != T(0)) != (b != T(0))); }, wide);
    case MapOp::kIsClose:
      return both(
          []<typename T>(T a, T b, const T* k) {
            const auto apart = std::abs(a - b);
            return T(a == b || (std::isfinite(apart) && apart <= k[1].real() + k[0].real() * std::abs(b)));
          },
          wide);
    // The gradient of a holomorphic function is multiplied by the conjugate of its derivative; PyTorch's silu is not.
    case MapOp::kSigmoidBackward:
      return both([]<typename T>(T g, T y, const T*) { return product(g, std::conj(product(T(1) - y, y))); }, wide);
    case MapOp::kTanhBackward:
      return both([]<typename T>(T g, T y, const T*) { return product(g, std::conj(T(1) - product(y, y))); }, wide);
    case MapOp::kSiluBackward:
      return both(
          []<typename T>(T g, T x, const T*) {
            const T s = quotient(T(1), T(1) + std::exp(-x));
            return product(g, product(s, T(1) + product(x, T(1) - s)));
          },
          wide);
    case MapOp::kWhere: return both([]<typename T>(T mask, T a, T b, const T*) { return mask != T(0) ? a : b; }, wide);
    case MapOp::kAddcmul:
      return both([]<typename T>(T a, T b, T c, const T* k) { return a + product(product(k[0], b), c); }, wide);
    case MapOp::kAddcdiv:
      return both([]<typename T>(T a, T b, T c, const T* k) { return a + quotient(product(k[0], b), c); }, wide);
    case MapOp::kLerp: return both([]<typename T>(T a, T b, T w, const T*) { return between(a, b, w); }, wide);
    case MapOp::kLerpBy: return both([]<typename T>(T a, T b, const T* k) { return between(a, b, k[0]); }, wide);
    default: return nullptr;
  }
}

}  // namespace softnpu
