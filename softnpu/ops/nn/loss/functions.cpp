#include "ops/nn/loss/functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace softnpu {
namespace {

// PyTorch's bounds: logarithms are at least -100, divisors at least 1e-12.
constexpr double kLeastLog = -100;
constexpr double kLeastDivisor = 1e-12;

template <typename T>
T log_up(T x) {
  return std::max(std::log(x), static_cast<T>(kLeastLog));
}
// log(1 + exp(-x)) without overflow.
template <typename T>
T softplus_of_minus(T x) {
  return std::log1p(std::exp(-std::fabs(x))) + std::max(-x, T(0));
}
template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

struct Square {
  static auto of(auto a, auto b, const auto*) { return (a - b) * (a - b); }
};
struct Abs {
  static auto of(auto a, auto b, const auto*) { return std::fabs(a - b); }
};
struct Smooth {
  template <typename T>
  static T of(T a, T b, const T* k) {
    const T z = std::fabs(a - b);
    return z < k[0] ? T(0.5) * z * z / k[0] : z - T(0.5) * k[0];
  }
};
struct Entropy {
  template <typename T>
  static T of(T a, T b, T c, const T*) {
    // NaN for a probability outside of [0, 1] is kept: max(NaN, x) is NaN if NaN is first.
    return ((b - 1) * std::max(std::log1p(-a), static_cast<T>(kLeastLog)) - b * log_up(a)) * c;
  }
};
struct LogitEntropy {
  template <typename T>
  static T of(T a, T b, T c, T d, const T*) {
    return ((1 - b) * a + ((d - 1) * b + 1) * softplus_of_minus(a)) * c;
  }
};
struct Divergence {
  template <typename T>
  static T of(T a, T b, const T*) {
    return b == 0 ? T(0) : b * (std::log(b) - a);
  }
};
struct LogDivergence {
  static auto of(auto a, auto b, const auto*) { return std::exp(b) * (b - a); }
};
struct SoftMargin {
  static auto of(auto a, auto b, const auto*) { return softplus_of_minus(a * b); }
};

struct SquareBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    return k[0] * 2 * (b - c) * a;
  }
};
struct AbsBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    const T x = b - c;
    return x != x ? x : k[0] * a * static_cast<T>((x > 0) - (x < 0));
  }
};
struct SmoothBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    const T x = b - c;
    if (x <= -k[1]) return -k[0] * a;
    return x >= k[1] ? k[0] * a : k[0] * x * a / k[1];
  }
};
struct EntropyBackward {
  template <typename T>
  static T of(T a, T b, T c, T d, const T* k) {
    return k[0] * a * d * (b - c) / std::max((1 - b) * b, static_cast<T>(kLeastDivisor));
  }
};
struct LogitEntropyBackward {
  template <typename T>
  static T of(T a, T b, T c, T d, T e, const T* k) {
    return k[0] * a * d * ((e * c + 1 - c) * sigmoid(b) - e * c);
  }
};
struct DivergenceBackward {
  template <typename T>
  static T of(T a, T, T c, const T* k) {
    return c > 0 ? -k[0] * c * a : T(0);
  }
};
struct LogDivergenceBackward {
  template <typename T>
  static T of(T a, T, T c, const T* k) {
    return -k[0] * std::exp(c) * a;
  }
};
struct DivergenceTargetBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    return c > 0 ? k[0] * a * (std::log(c) + 1 - b) : T(0);
  }
};
struct LogDivergenceTargetBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    return k[0] * a * std::exp(c) * (c - b + 1);
  }
};
struct SoftMarginBackward {
  template <typename T>
  static T of(T a, T b, T c, const T* k) {
    return -k[0] * c * a * sigmoid(-c * b);
  }
};

// The result may be in an input's memory, element for element: iterations are independent.
template <typename F, typename T>
void map(void* out, const void* const* in, size_t count, const void* constants) {
  const auto at = [&](size_t i) { return static_cast<const T*>(in[i]); };
  // A copy, which no result overwrites.
  T k[4];
  std::memcpy(k, constants, sizeof k);
  auto* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    if constexpr (requires(T x) { F::of(x, x, k); }) {
      y[i] = F::of(at(0)[i], at(1)[i], k);
    } else if constexpr (requires(T x) { F::of(x, x, x, k); }) {
      y[i] = F::of(at(0)[i], at(1)[i], at(2)[i], k);
    } else if constexpr (requires(T x) { F::of(x, x, x, x, k); }) {
      y[i] = F::of(at(0)[i], at(1)[i], at(2)[i], at(3)[i], k);
    } else {
      y[i] = F::of(at(0)[i], at(1)[i], at(2)[i], at(3)[i], at(4)[i], k);
    }
  }
}

template <typename F>
MapKernel kernel_of(ComputeType compute_type) {
  if (compute_type == ComputeType::kF32) return &map<F, float>;
  return compute_type == ComputeType::kF64 ? &map<F, double> : nullptr;
}

}  // namespace

MapKernel loss_kernel(LossOp op, ComputeType compute_type) {
  switch (op) {
    case LossOp::kSquare: return kernel_of<Square>(compute_type);
    case LossOp::kAbs: return kernel_of<Abs>(compute_type);
    case LossOp::kSmooth: return kernel_of<Smooth>(compute_type);
    case LossOp::kEntropy: return kernel_of<Entropy>(compute_type);
    case LossOp::kLogitEntropy: return kernel_of<LogitEntropy>(compute_type);
    case LossOp::kDivergence: return kernel_of<Divergence>(compute_type);
    case LossOp::kLogDivergence: return kernel_of<LogDivergence>(compute_type);
    case LossOp::kSoftMargin: return kernel_of<SoftMargin>(compute_type);
    case LossOp::kSquareBackward: return kernel_of<SquareBackward>(compute_type);
    case LossOp::kAbsBackward: return kernel_of<AbsBackward>(compute_type);
    case LossOp::kSmoothBackward: return kernel_of<SmoothBackward>(compute_type);
    case LossOp::kEntropyBackward: return kernel_of<EntropyBackward>(compute_type);
    case LossOp::kLogitEntropyBackward: return kernel_of<LogitEntropyBackward>(compute_type);
    case LossOp::kDivergenceBackward: return kernel_of<DivergenceBackward>(compute_type);
    case LossOp::kLogDivergenceBackward: return kernel_of<LogDivergenceBackward>(compute_type);
    case LossOp::kDivergenceTargetBackward: return kernel_of<DivergenceTargetBackward>(compute_type);
    case LossOp::kLogDivergenceTargetBackward: return kernel_of<LogDivergenceTargetBackward>(compute_type);
    case LossOp::kSoftMarginBackward: return kernel_of<SoftMarginBackward>(compute_type);
  }
  return nullptr;
}

}  // namespace softnpu
