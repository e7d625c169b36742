// Functions of complex numbers, one value at a time. Predicates return 1 or 0.

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <type_traits>

#include "ops/math/elementwise/map_op.h"

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
MapKernel both(F, ComputeType compute_type) {
  return compute_type == ComputeType::kC64 ? &loop<F, std::complex<float>> : &loop<F, std::complex<double>>;
}

// By the definition: C++'s product has special cases for infinities, PyTorch's has not.
template <typename R>
std::complex<R> product(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's algorithm: no square of a part overflows.
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
  // Near -1 the sum of squares cancels, and 1 + re is exact.
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

MapKernel complex_kernel(MapOp op, ComputeType compute_type) {
  switch (op) {
    case MapOp::kIdentity: return both([]<typename T>(T a, const T*) { return a; }, compute_type);
    case MapOp::kAbs: return both([]<typename T>(T a, const T*) { return T(std::abs(a)); }, compute_type);
    case MapOp::kNeg: return both([]<typename T>(T a, const T*) { return -a; }, compute_type);
    case MapOp::kSign:
      return both([]<typename T>(T a, const T*) { return a == T(0) ? a : a / std::abs(a); }, compute_type);
    case MapOp::kSquare: return both([]<typename T>(T a, const T*) { return product(a, a); }, compute_type);
    case MapOp::kCube: return both([]<typename T>(T a, const T*) { return product(product(a, a), a); }, compute_type);
    case MapOp::kReciprocalSquare:
      return both([]<typename T>(T a, const T*) { return quotient(T(1), product(a, a)); }, compute_type);
    case MapOp::kReciprocal: return both([]<typename T>(T a, const T*) { return quotient(T(1), a); }, compute_type);
    case MapOp::kLogicalNot: return both([]<typename T>(T a, const T*) { return T(a == T(0)); }, compute_type);
    case MapOp::kIsFinite: return both([]<typename T>(T a, const T*) { return T(finite(a)); }, compute_type);
    case MapOp::kNanToNum:
      return both(
          []<typename T>(T a, const T* k) {
            const auto of = [k](auto part) {
              if (std::isnan(part)) return k[0].real();
              return std::isinf(part) ? k[part > 0 ? 1 : 2].real() : part;
            };
            return T(of(a.real()), of(a.imag()));
          },
          compute_type);
    case MapOp::kSqrt: return both([]<typename T>(T a, const T*) { return std::sqrt(a); }, compute_type);
    case MapOp::kRsqrt:
      return both([]<typename T>(T a, const T*) { return quotient(T(1), std::sqrt(a)); }, compute_type);
    case MapOp::kExp: return both([]<typename T>(T a, const T*) { return std::exp(a); }, compute_type);
    case MapOp::kExp2:
      return both([]<typename T>(T a, const T*) { return std::exp(a * std::numbers::ln2_v<typename T::value_type>); },
                  compute_type);
    case MapOp::kExpm1:
      return both(
          []<typename T>(T a, const T*) {
            const auto half = std::sin(a.imag() / 2);
            const auto grown = std::exp(a.real());
            return T(std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, grown * std::sin(a.imag()));
          },
          compute_type);
    case MapOp::kLog: return both([]<typename T>(T a, const T*) { return std::log(a); }, compute_type);
    case MapOp::kLog2:
      return both([]<typename T>(T a, const T*) { return std::log(a) * std::numbers::log2e_v<typename T::value_type>; },
                  compute_type);
    case MapOp::kLog10: return both([]<typename T>(T a, const T*) { return std::log10(a); }, compute_type);
    case MapOp::kLog1p: return both([]<typename T>(T a, const T*) { return log1p(a); }, compute_type);
    case MapOp::kSin: return both([]<typename T>(T a, const T*) { return std::sin(a); }, compute_type);
    case MapOp::kCos: return both([]<typename T>(T a, const T*) { return std::cos(a); }, compute_type);
    case MapOp::kTan: return both([]<typename T>(T a, const T*) { return std::tan(a); }, compute_type);
    case MapOp::kAsin: return both([]<typename T>(T a, const T*) { return std::asin(a); }, compute_type);
    case MapOp::kAcos: return both([]<typename T>(T a, const T*) { return std::acos(a); }, compute_type);
    case MapOp::kAtan: return both([]<typename T>(T a, const T*) { return std::atan(a); }, compute_type);
    case MapOp::kSinh: return both([]<typename T>(T a, const T*) { return std::sinh(a); }, compute_type);
    case MapOp::kCosh: return both([]<typename T>(T a, const T*) { return std::cosh(a); }, compute_type);
    case MapOp::kTanh: return both([]<typename T>(T a, const T*) { return std::tanh(a); }, compute_type);
    case MapOp::kAsinh: return both([]<typename T>(T a, const T*) { return std::asinh(a); }, compute_type);
    case MapOp::kAcosh: return both([]<typename T>(T a, const T*) { return std::acosh(a); }, compute_type);
    case MapOp::kAtanh: return both([]<typename T>(T a, const T*) { return std::atanh(a); }, compute_type);
    case MapOp::kSigmoid:
      return both([]<typename T>(T a, const T*) { return quotient(T(1), T(1) + std::exp(-a)); }, compute_type);
    case MapOp::kSilu:
      return both([]<typename T>(T a, const T*) { return quotient(a, T(1) + std::exp(-a)); }, compute_type);
    case MapOp::kSinc:
      return both(
          []<typename T>(T a, const T*) {
            const T x = a * std::numbers::pi_v<typename T::value_type>;
            return a == T(0) ? T(1) : quotient(std::sin(x), x);
          },
          compute_type);
    case MapOp::kAdd: return both([]<typename T>(T a, T b, const T* k) { return a + product(k[0], b); }, compute_type);
    case MapOp::kSub: return both([]<typename T>(T a, T b, const T* k) { return a - product(k[0], b); }, compute_type);
    case MapOp::kRsub: return both([]<typename T>(T a, T b, const T* k) { return b - product(k[0], a); }, compute_type);
    case MapOp::kMul: return both([]<typename T>(T a, T b, const T*) { return product(a, b); }, compute_type);
    case MapOp::kDiv: return both([]<typename T>(T a, T b, const T*) { return quotient(a, b); }, compute_type);
    case MapOp::kPow: return both([]<typename T>(T a, T b, const T*) { return std::pow(a, b); }, compute_type);
    case MapOp::kXlogy:
      return both([]<typename T>(T a, T b, const T*) { return a == T(0) ? T(0) : product(a, std::log(b)); },
                  compute_type);
    case MapOp::kLogAddExp:
      return both(
          []<typename T>(T a, T b, const T*) {
            // For equal real parts the branch depends on which is the larger one: PyTorch takes the first.
            const bool first = a.real() >= b.real();
            const T larger = first ? a : b;
            const T smaller = first ? b : a;
            return larger + log1p(std::exp(smaller - larger));
          },
          compute_type);
    case MapOp::kEq: return both([]<typename T>(T a, T b, const T*) { return T(a == b); }, compute_type);
    case MapOp::kNe: return both([]<typename T>(T a, T b, const T*) { return T(a != b); }, compute_type);
    case MapOp::kLogicalAnd:
      return both([]<typename T>(T a, T b, const T*) { return T(a != T(0) && b != T(0)); }, compute_type);
    case MapOp::kLogicalOr:
      return both([]<typename T>(T a, T b, const T*) { return T(a != T(0) || b != T(0)); }, compute_type);
    case MapOp::kLogicalXor:
      return both([]<typename T>(T a, T b, const T*) { return T((a != T(0)) != (b != T(0))); }, compute_type);
    case MapOp::kIsClose:
      return both(
          []<typename T>(T a, T b, const T* k) {
            const auto apart = std::abs(a - b);
            return T(a == b || (std::isfinite(apart) && apart <= k[1].real() + k[0].real() * std::abs(b)));
          },
          compute_type);
    // The gradient of a holomorphic function is multiplied by the conjugate of the derivative; PyTorch does not do so
    // for silu.
    case MapOp::kSigmoidBackward:
      return both([]<typename T>(T g, T y, const T*) { return product(g, std::conj(product(T(1) - y, y))); },
                  compute_type);
    case MapOp::kTanhBackward:
      return both([]<typename T>(T g, T y, const T*) { return product(g, std::conj(T(1) - product(y, y))); },
                  compute_type);
    case MapOp::kSiluBackward:
      return both(
          []<typename T>(T g, T x, const T*) {
            const T s = quotient(T(1), T(1) + std::exp(-x));
            return product(g, product(s, T(1) + product(x, T(1) - s)));
          },
          compute_type);
    case MapOp::kWhere:
      return both([]<typename T>(T mask, T a, T b, const T*) { return mask != T(0) ? a : b; }, compute_type);
    case MapOp::kAddcmul:
      return both([]<typename T>(T a, T b, T c, const T* k) { return a + product(product(k[0], b), c); }, compute_type);
    case MapOp::kAddcdiv:
      return both([]<typename T>(T a, T b, T c, const T* k) { return a + quotient(product(k[0], b), c); },
                  compute_type);
    case MapOp::kLerp: return both([]<typename T>(T a, T b, T w, const T*) { return between(a, b, w); }, compute_type);
    case MapOp::kLerpBy:
      return both([]<typename T>(T a, T b, const T* k) { return between(a, b, k[0]); }, compute_type);
    default: return nullptr;
  }
}

}  // namespace softnpu
